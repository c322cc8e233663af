import { isMessage } from '../../chat/entry.js';
import type { HistoryStore } from '../../history/store.js';
import { type MemoryChange, MemoryFile } from '../../memory/memory-file.js';
import { originOf } from '../../recall/search.js';
import type { OpenMemory } from '../../slash/common/command.js';
import type { Memory } from '../../tools/common/tool.js';

/** Opens the memory at `path`. Only one `hi` changes it at a time. */
export async function openMemory(path: string, history: HistoryStore, now: () => Date): Promise<OpenMemory> {
  return {
    file: new MemoryFile(path, (work) => history.exclusively(work)),
    origin: (by) => ({
      by,
      at: now().toISOString().replace(/\.\d+/, ''),
      id: newestMessage(history),
      ...(by === 'model' && hasModelRead(history) && { foreign: true }),
    }),
  };
}

/** The id of the user's last message, else of the newest message; null if there is none yet. */
function newestMessage({ entries }: HistoryStore): number | null {
  const messages = entries.filter(isMessage);
  return (messages.findLast(({ role }) => role === 'user') ?? messages.at(-1))?.id ?? null;
}

/** The memory as the model may propose to change it. */
export function memoryForModel(open: () => Promise<OpenMemory>): Memory {
  return {
    async preview(text, replaces) {
      const { file, origin } = await open();
      const proposed = origin('model');
      const difference = differenceOf(file.preview(text, proposed, replaces), text);
      return proposed.foreign ? `${difference}\n${WARNING}` : difference;
    },
    async keep(text, replaces) {
      const { file, origin } = await open();
      return OUTCOMES[(await file.keep(text, origin('model'), replaces)).kind];
    },
  };
}

const WARNING = 'The model proposes this after reading foreign content.';

/** Whether the model had read text by others than itself and the user when it made its last call. */
function hasModelRead({ entries }: HistoryStore): boolean {
  const messages = entries.filter(isMessage);
  const call = messages.findLast(({ role }) => role === 'assistant');
  return call === undefined || originOf(call, () => messages) !== 'model';
}

const differenceOf = ({ kind, replaced }: MemoryChange, text: string): string =>
  kind === 'known' ? ` ${text}` : `${replaced === null ? '' : `-${replaced.text}\n`}+${text}`;

const OUTCOMES: Readonly<Record<MemoryChange['kind'], string>> = {
  added: 'Stored. It is sent from the next message on.',
  replaced: 'Replaced. It is sent from the next message on.',
  known: 'The memory already has it; nothing changed.',
};
