import unicode11 from '@xterm/addon-unicode11';
import headless from '@xterm/headless';

export type Emulator = InstanceType<typeof headless.Terminal>;

/** A terminal emulator without a window that knows how wide today's emoji are. */
export function createEmulator(columns: number, rows: number): Emulator {
  const emulator = new headless.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  emulator.loadAddon(new unicode11.Unicode11Addon());
  emulator.unicode.activeVersion = '11';
  return emulator;
}

/** The lines on its screen, without trailing blanks. */
export function screenOf(emulator: Emulator): string {
  const { active } = emulator.buffer;
  return Array.from(
    { length: emulator.rows },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
  )
    .join('\n')
    .trimEnd();
}

/** Everything from the first line on; wrapped rows are joined again, as a copy of them would be. */
export function transcriptOf(emulator: Emulator): string {
  const { active } = emulator.buffer;
  let text = '';
  for (let row = 0; row < active.length; row += 1) {
    const isContinued = active.getLine(row + 1)?.isWrapped ?? false;
    text += active.getLine(row)?.translateToString(!isContinued) ?? '';
    if (!isContinued) text += '\n';
  }
  return text.trimEnd();
}
