import { afterEach, describe, expect, it } from '@jest/globals';
import { CYAN, combine, DIM, paint, RED, THEMES, useTheme } from '../../lib/screen/text/styled-text.js';

afterEach(() => useTheme('terminal'));

/** The channels of one of the 256 colours, as xterm has them. */
function channels(index: number): readonly number[] {
  if (index >= 232) return Array.from({ length: 3 }, () => 8 + 10 * (index - 232));
  const steps = [0, 95, 135, 175, 215, 255];
  const at = index - 16;
  return [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => steps[step] ?? 0);
}

/** WCAG 2: the relative luminance, and the contrast of two colours. */
function luminance(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) => {
    const share = channel / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: readonly number[], other: readonly number[]): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const BACKGROUNDS = {
  /** Black, One Dark, Dracula, Solarized dark. */
  dark: [
    [0, 0, 0],
    [40, 44, 52],
    [40, 42, 54],
    [0, 43, 54],
  ],
  /** White, One Light, Solarized light, Gruvbox light. */
  light: [
    [255, 255, 255],
    [250, 250, 250],
    [253, 246, 227],
    [251, 241, 199],
  ],
} as const;

describe('themes', () => {
  it.each(['dark', 'light'] as const)('can be read on the backgrounds that are %s (WCAG AA)', (name) => {
    for (const style of Object.values(THEMES[name] ?? {})) {
      const index = Number(/^38;5;(\d+)$/.exec(style)?.[1]);
      for (const background of BACKGROUNDS[name])
        expect([style, background, contrast(channels(index), background) >= 4.5]).toEqual([style, background, true]);
    }
  });

  it('replace the six colours and nothing else', () => {
    expect(paint('x', combine(DIM, CYAN))).toBe('\x1b[0;2;36mx\x1b[0m');
    useTheme('light');
    expect(paint('x', combine(DIM, CYAN))).toBe('\x1b[0;2;38;5;23mx\x1b[0m');
    useTheme('mono');
    expect([paint('x', CYAN), paint('x', RED), paint('x', combine(DIM, CYAN))]).toEqual([
      '\x1b[0mx\x1b[0m',
      '\x1b[0;1mx\x1b[0m',
      '\x1b[0;2mx\x1b[0m',
    ]);
  });
});
