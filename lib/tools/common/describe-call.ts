import type { ToolCallPart } from '../../chat/message.js';

/** A call on one line for the screen: `bash ls -la`, `write_file src/x.ts (12 lines)`. */
export function describeCall({
  name,
  args,
  invalid_args,
}: Pick<ToolCallPart, 'name' | 'args' | 'invalid_args'>): string {
  if (invalid_args !== undefined) return `${name} (unreadable arguments)`;
  return [name, subject(args), detail(args)].filter((part) => part !== '').join(' ');
}

function subject(args: ToolCallPart['args']): string {
  const { command, path, text, ...others } = args;
  if (typeof text === 'string' && command === undefined && path === undefined && Object.keys(others).length === 0)
    return oneLine(text);
  if (typeof command === 'string') return oneLine(command);
  if (typeof path === 'string') return oneLine(path);
  return Object.keys(args).length === 0 ? '' : oneLine(JSON.stringify(args));
}

function detail({ content, old, new: replacement, offset, limit }: ToolCallPart['args']): string {
  if (typeof content === 'string') return `(${lines(content)} ${lines(content) === 1 ? 'line' : 'lines'})`;
  if (typeof old === 'string' && typeof replacement === 'string') return `(-${lines(old)} +${lines(replacement)})`;
  if (typeof offset !== 'number' && typeof limit !== 'number') return '';
  const first = typeof offset === 'number' ? offset : 1;
  return typeof limit === 'number' ? `(lines ${first}-${first + limit - 1})` : `(from line ${first})`;
}

function lines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

function oneLine(text: string): string {
  const lines = text.split('\n').map((one) => one.trim());
  const line = lines.filter((one) => one !== '').join(' ⏎ ');
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
