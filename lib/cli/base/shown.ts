import { toJson } from '../../chat/json.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { neutralise, neutraliseJson } from '../../screen/text/neutralise.js';

/** Text for that stream: neutralised on a terminal, byte for byte elsewhere. */
export function shownText(text: string, { isTTY }: Pick<OutputStream, 'isTTY'>): string {
  return isTTY === true ? neutralise(text) : text;
}

/** JSON text for that stream: on a terminal with escapes for what the terminal would obey, and the same JSON. */
export function shownJson(json: string, { isTTY }: Pick<OutputStream, 'isTTY'>): string {
  return isTTY === true ? neutraliseJson(json) : json;
}

/** Writes a value as JSON, with a newline. */
export function writeJson(stdout: OutputStream, value: unknown, indent = 0): void {
  stdout.write(`${shownJson(toJson(value, indent), stdout)}\n`);
}
