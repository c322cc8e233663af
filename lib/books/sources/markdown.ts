import type { ForeignMessage, Source } from '../common/book-source.js';
import { textOf } from '../input/texts.js';

/** Markdown with a heading before each message: `## User`, `## Assistant`. It has no times, and no ids but its name. */
export const markdown: Source = {
  name: 'markdown',
  title: 'Markdown',
  places: () => [],
  recognises: ({ form, ...sample }) => {
    const roles = form === 'text' && 'text' in sample ? partsOf(sample.text).map(({ role }) => role) : [];
    return roles.includes('user') && roles.includes('assistant');
  },
  async *threads(file, reading) {
    const text = await textOf(file, reading);
    if (text === null) return;
    const name = file.path.replace(/^.*\//, '').replace(/\.\w+$/, '');
    const messages = partsOf(text).flatMap(({ role, text: said }, index): readonly ForeignMessage[] =>
      said === '' ? [] : [{ id: String(index), at: '', role, content: [{ type: 'text', text: said }] }],
    );
    yield { id: name, title: name, messages };
  },
};

const HEADING =
  /^#{1,4} +\**(?:(User|You|Human|Me|Prompt)|(Assistant|AI|Model|ChatGPT|Claude|Gemini|Response|Answer))\b[^\n]{0,40}$/i;

/** The messages, by their headings; one in a block of code is none. */
function partsOf(text: string): readonly { readonly role: 'user' | 'assistant'; readonly text: string }[] {
  const parts: { readonly role: 'user' | 'assistant'; readonly lines: string[] }[] = [];
  let fence = '';
  for (const line of text.split(/\r?\n/)) {
    const [, mark = ''] = /^ {0,3}(```+|~~~+)/.exec(line) ?? [];
    if (fence === '' ? mark !== '' : mark.startsWith(fence)) fence = fence === '' ? mark : '';
    const [heading, user] = (fence === '' && HEADING.exec(line)) || [];
    if (heading !== undefined) parts.push({ role: user === undefined ? 'assistant' : 'user', lines: [] });
    else parts.at(-1)?.lines.push(line);
  }
  return parts.map(({ role, lines }) => ({ role, text: lines.join('\n').trim() }));
}
