import { BLUE, CYAN, GREEN, MAGENTA, RED, setThemeColours, type ThemeColours, YELLOW } from './text/style.js';

/** The colours of answers and notices. */
export type ThemeName = 'dark' | 'light' | 'mono' | 'terminal';

const indexed = (index: number): string => `38;5;${index}`;

/** Null for the 16 colours of the terminal's own palette. The others use the 256-colour palette, which themes rarely change. */
export const THEMES: Readonly<Record<ThemeName, ThemeColours | null>> = {
  terminal: null,
  dark: {
    [RED]: indexed(210),
    [GREEN]: indexed(114),
    [YELLOW]: indexed(179),
    [BLUE]: indexed(111),
    [MAGENTA]: indexed(176),
    [CYAN]: indexed(80),
  },
  light: {
    [RED]: indexed(160),
    [GREEN]: indexed(22),
    [YELLOW]: indexed(94),
    [BLUE]: indexed(25),
    [MAGENTA]: indexed(90),
    [CYAN]: indexed(23),
  },
  mono: { [RED]: '1', [GREEN]: '', [YELLOW]: '', [BLUE]: '', [MAGENTA]: '', [CYAN]: '' },
};

/** Uses the colours of a theme from now on. */
export function useTheme(name: ThemeName): void {
  setThemeColours(THEMES[name]);
}
