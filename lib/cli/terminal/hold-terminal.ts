import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { neutralise } from '../../screen/text/neutralise.js';
import { textWidth } from '../../screen/text/styled-text.js';
import { openTerminal } from '../base/world.js';

/** How long to wait at the end for what was typed before it, in milliseconds. */
const LAST_KEYS = 20;
const CTRL_C = 3;

/**
 * Takes the keys of the user's terminal, which another program reads as well, and shows `text` in a row of its own.
 * What is typed meanwhile is dropped, and Ctrl-C calls `interrupt`. Returns what gives the keys back and removes the
 * row. Does nothing without a terminal.
 */
export function holdTerminal(text: string, interrupt: () => void): () => Promise<void> {
  const opened = openTerminal();
  if (opened === null) return async () => undefined;
  const { fd, keys } = opened;
  keys.setRawMode(true);
  keys.on('data', (bytes: Buffer) => {
    if (bytes.includes(CTRL_C)) interrupt();
  });
  keys.on('error', () => undefined);
  const shown = neutralise(text.replaceAll(/\s+/g, ' '));
  const { columns = 80 } = process.stderr;
  const row = textWidth(shown) < columns ? shown : `${shown.slice(0, columns / 2)}…`;
  writeSync(fd, `\r\x1b[K${row}`);
  return async () => {
    await sleep(LAST_KEYS);
    writeSync(fd, '\r\x1b[K');
    keys.setRawMode(false);
    keys.destroy();
  };
}
