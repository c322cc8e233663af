import type { Part } from '../chat/message.js';
import type { HistoryStore } from '../history/store.js';
import type { GivenFile } from '../tools/common/tool.js';
import type { UserInput } from './common/deps.js';

/** The user's input as stored in the history. The files are on disk when this resolves. */
export async function contentOf({ text, texts, attachments }: UserInput, history: HistoryStore): Promise<Part[]> {
  const content: Part[] = [];
  for (const { kind, mime, bytes, name } of attachments) {
    content.push({ type: kind, mime, sha256: await history.attachments.add(bytes), bytes: bytes.length, name });
  }
  for (const part of [...texts, text]) if (part !== '') content.push({ type: 'text', text: part });
  return content;
}

/** The files that tools returned, as stored in the history. */
export async function keptFiles(files: readonly GivenFile[], history: HistoryStore): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const { kind, mime, bytes } of files)
    parts.push({ type: kind, mime, sha256: await history.attachments.add(bytes), bytes: bytes.length });
  return parts;
}
