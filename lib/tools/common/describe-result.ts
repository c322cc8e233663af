import { isJsonObject, type JsonValue } from '../../chat/json.js';
import { quantity } from '../../chat/text.js';

/** The result of a call in a few words for the screen: `7 entries`, `120 lines`, `exit status 1`; empty if there is nothing to say. */
export function describeResult(result: JsonValue): string {
  if (!isJsonObject(result)) return '';
  const { entries, total, content, exit_code, stdout, stderr } = result;
  if (Array.isArray(entries)) return quantity(typeof total === 'number' ? total : entries.length, 'entry', 'entries');
  if (typeof content === 'string') return quantity(linesIn(content), 'line');
  if (typeof exit_code === 'number' && exit_code !== 0) return `exit status ${exit_code}`;
  return exit_code === 0 && stdout === '' && stderr === '' ? 'no output' : '';
}

function linesIn(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}
