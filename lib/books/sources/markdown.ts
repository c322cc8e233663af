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
    const messages = text.startsWith(BY_HI)
      ? ownMessages(text, reading)
      : partsOf(text).flatMap(({ role, text: said }, index): readonly ForeignMessage[] =>
          said === '' ? [] : [{ id: String(index), at: '', role, content: [{ type: 'text', text: said }] }],
        );
    yield { id: reading.nameOf(file), title: file.path.replace(/^.*\//, '').replace(/\.\w+$/, ''), messages };
  },
};

/** A heading that may begin a message. Behind the name is nothing, or what has a digit, such as a time or a version. */
const HEADING =
  /^(#{1,4}) +\**(?:(User|You|Human|Me|Prompt)|(Assistant|AI|Model|ChatGPT|Claude|Gemini|Response|Answer))\b(?:[^\n\d]{0,40}\d[^\n]{0,40}|(?: said)?[:*]{0,3}\s*)$/i;

/** What begins and ends a block of code: ``` or ~~~. */
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** A line that may be the heading of a message. */
interface Heading {
  readonly level: string;
  readonly role: 'user' | 'assistant';
  readonly name: string;
}

/** For each line the heading that it may be; null where it is none, and for one in a block of code. */
function headingsIn(lines: readonly string[]): readonly (Heading | null)[] {
  let fence = '';
  return lines.map((line) => {
    const [begun = '', mark = ''] = FENCE.exec(line) ?? [];
    const rest = line.slice(begun.length);
    if (fence === '') fence = mark.startsWith('`') && rest.includes('`') ? '' : mark;
    else if (mark.startsWith(fence) && rest.trim() === '') fence = '';
    const [, level, user, model] = (fence === '' && HEADING.exec(line)) || [];
    const name = user ?? model;
    return level === undefined || name === undefined ? null : { level, role: user ? 'user' : 'assistant', name };
  });
}

/**
 * The messages, by their headings. All have one level, those of the user one name, and those of the model too where one
 * follows another of its own: an answer may have headings such as "User stories" or "Answer 2".
 */
function partsOf(text: string): readonly { readonly role: Heading['role']; readonly text: string }[] {
  const lines = text.split(/\r?\n/);
  const headings = headingsIn(lines);
  const isOf = (role: Heading['role'], level: string): boolean =>
    headings.some((one) => one?.role === role && one.level === level);
  const level = headings.find((one) => one && isOf('user', one.level) && isOf('assistant', one.level))?.level;
  const names = new Map<Heading['role'], string>();
  const parts: { readonly role: Heading['role']; readonly lines: string[] }[] = [];
  for (const [index, line] of lines.entries()) {
    const heading = headings[index]?.level === level ? headings[index] : null;
    const isKnown = heading && heading.name === (names.get(heading.role) ?? heading.name);
    const last = parts.at(-1);
    if (heading && (isKnown || (heading.role === 'assistant' && last?.role === 'user'))) {
      names.set(heading.role, names.get(heading.role) ?? heading.name);
      parts.push({ role: heading.role, lines: [] });
    } else last?.lines.push(line);
  }
  return parts.map(({ role, lines: said }) => ({ role, text: said.join('\n').trim() }));
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
