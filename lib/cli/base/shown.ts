import { toJson } from '../../chat/json.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { neutraliseJson } from '../../screen/text/neutralise.js';

/** Writes a value as JSON, with a newline; what a terminal would obey has escapes, also for one that shows the file later. */
export function writeJson(stdout: OutputStream, value: unknown, indent = 0): void {
  stdout.write(`${neutraliseJson(toJson(value, indent))}\n`);
}
