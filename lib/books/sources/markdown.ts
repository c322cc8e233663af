import type { AttachedFile, ForeignMessage, Reading, Source } from '../common/book-source.js';
import { textOf } from '../input/texts.js';
import { timeOf } from './fields.js';

/**
 * Markdown with a heading before each message: `## User`, `## Assistant`. It has no times, unless hi wrote it, and no
 * ids but its name.
 */
export const markdown: Source = {
  name: 'markdown',
  title: 'Markdown',
  places: () => [],
  recognises: ({ form, ...sample }) => {
    if (form !== 'text' || !('text' in sample)) return false;
    const roles = partsOf(sample.text).map(({ role }) => role);
    return sample.text.startsWith(BY_HI) || (roles.includes('user') && roles.includes('assistant'));
  },
  async *threads(file, reading) {
    const text = await textOf(file, reading);
    if (text === null) return;
    const name = file.path.replace(/^.*\//, '').replace(/\.\w+$/, '');
    const messages = text.startsWith(BY_HI)
      ? ownMessages(text, reading)
      : partsOf(text).flatMap(({ role, text: said }, index): readonly ForeignMessage[] =>
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

/** How a file begins that hi wrote: it says exactly where each message begins and ends, and when it was said. */
export const BY_HI =
  '<!-- Written by hi. Each message stands below a heading; "\\## User" at the beginning of a line is "## User". -->';

/** What stands below a heading of such a file. */
export type Headed = 'User' | 'Assistant' | 'Tool' | 'Attached';

const OWN_HEADING = /^## (User|Assistant|Tool|Attached)(?: · (.*))?$/;

/** A line that begins like such a heading, behind any number of backslashes. */
const HEADING_LIKE = /^(\\*)(?=## (?:User|Assistant|Tool|Attached)(?: |$))/gm;

/** The heading of a message that was said at a time; empty if that is unknown. */
export const headingOf = (what: Headed, at: string, model: string = ''): string =>
  [
    '##',
    [what, at, what === 'Assistant' ? model.replaceAll('\n', ' ') : ''].filter((one) => one !== '').join(' · '),
  ].join(' ');

/** The text of a message so that nothing in it is a heading of the file. */
export const escapedHeadings = (text: string): string => text.replace(HEADING_LIKE, '$1\\');

/** The messages of a file that hi wrote. What stands between them and their headings is one empty line. */
function ownMessages(text: string, reading: Reading): readonly ForeignMessage[] {
  const sections: { readonly what: Headed; readonly rest: readonly string[]; readonly lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const [heading, what, rest = ''] = OWN_HEADING.exec(line) ?? [];
    if (heading !== undefined && isHeaded(what)) sections.push({ what, rest: rest.split(' · '), lines: [] });
    else sections.at(-1)?.lines.push(line.replace(/^\\(?=\\*## (?:User|Assistant|Tool|Attached)(?: |$))/, ''));
  }
  let attached: readonly AttachedFile[] = [];
  return sections.flatMap(({ what, rest: [first = '', second = ''], lines }, index): readonly ForeignMessage[] => {
    const said = lines.slice(1, -1).join('\n');
    const at = timeOf(first);
    const base = { id: String(index), at, content: [...attached, { type: 'text', text: said } as const] };
    if (what === 'Attached') attached = [...attached, ...linkedIn(said, reading)];
    else if (what === 'Tool') reading.leaveOut('calls and results of tools');
    if (what === 'Attached' || what === 'Tool') return [];
    attached = [];
    const model = at === '' ? first : second;
    return [
      what === 'User' ? { ...base, role: 'user' } : { ...base, role: 'assistant', ...(model !== '' && { model }) },
    ];
  });
}

const isHeaded = (what: string | undefined): what is Headed => what !== undefined;

function linkedIn(text: string, reading: Reading): readonly AttachedFile[] {
  const [, name = '', path = ''] = /^!?\[([^\]\n]*)\]\(([^)\n]+)\)$/.exec(text) ?? [];
  const file = path === '' ? null : reading.beside(path);
  if (file !== null) return [{ type: 'attached', file, name }];
  reading.leaveOut('files that the export lacks');
  return [];
}
