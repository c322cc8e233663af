import { resolve } from 'node:path';
import type { ToolCallContent } from '@agentclientprotocol/sdk';
import type { ApprovalQuestion } from '../../tools/common/tool.js';

/** What a call would do, as an editor shows it: a file change as a diff, anything else as text. */
export async function previewContent(
  { kind, text }: ApprovalQuestion['preview'],
  cwd: string,
): Promise<readonly ToolCallContent[]> {
  const words: ToolCallContent = { type: 'content', content: { type: 'text', text } };
  if (kind !== 'diff') return [words];
  const { parsePatch } = await import('diff');
  const [patch] = parsePatch(text);
  if (patch === undefined || patch.hunks.length === 0 || !patch.newFileName) return [words];
  const isNew = patch.oldFileName === '/dev/null';
  const path = resolve(cwd, patch.newFileName);
  return patch.hunks.map(({ lines }) => ({
    type: 'diff',
    path,
    ...(!isNew && { oldText: side(lines, '-') }),
    newText: side(lines, '+'),
  }));
}

/** One side of a diff: its own lines and the common ones. */
function side(lines: readonly string[], sign: '+' | '-'): string {
  return lines
    .filter((line) => line.startsWith(sign) || line.startsWith(' '))
    .map((line) => `${line.slice(1)}\n`)
    .join('');
}
