import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { Part, Usage } from '../../chat/message.js';
import type { AttachedFile, ForeignMessage, Reading, Source, SourceFile, Thread } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { heldFile, isNotice, listIn, objectIn, objectsOf, textIn, textsIn, timeOf } from './fields.js';

/**
 * The sessions of Claude Code, `~/.claude/projects/FOLDER/SESSION.jsonl`, deleted after 30 days by default. An answer
 * is written again while it streams, each time with one more part or a longer one; a resumed session begins with copies
 * of earlier lines.
 */
export const claudeCode: Source = {
  name: 'claude-code',
  title: 'Claude Code',
  places: ({ home, env }) => [join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects')],
  recognises: ({ form, ...sample }) => form === 'json' && 'first' in sample && isLineOfSession(sample.first),
  async *threads(file, reading) {
    const sessions = new Map<string, Session>();
    for await (const { value } of objectsIn(file, reading)) {
      const id = textIn(value, 'sessionId') + (value.isSidechain === true ? `/${textIn(value, 'agentId')}` : '');
      let session = sessions.get(id);
      if (session === undefined) {
        session = new Session(id || stemOf(file), reading);
        sessions.set(id, session);
      }
      session.add(value);
    }
    for (const session of sessions.values()) {
      const thread = session.thread();
      if (thread.messages.length > 0) yield thread;
    }
  },
};

/** Whether a line is one of a session: each version has more kinds of them. Gemini CLI logs lines with texts. */
function isLineOfSession(line: JsonObject): boolean {
  const kind = textIn(line, 'type');
  if ('sessionId' in line) return kind !== '' && !('projectHash' in line) && typeof line.message !== 'string';
  return kind === 'file-history-snapshot' || (kind === 'summary' && 'leafUuid' in line);
}

const stemOf = ({ path }: SourceFile): string => path.replace(/^.*\//, '').replace(/\.jsonl$/, '');

/** The `entrypoint` in what hi exports: all of it was said, also what looks like a notice of the program. */
export const ENTRY_OF_HI = 'hi';

/** A session while it is read. */
class Session {
  readonly #id: string;
  readonly #reading: Reading;
  /** By the id of the message: an answer that is written again takes the place of what it was. */
  readonly #messages = new Map<string, ForeignMessage>();
  #title = '';
  #lines = 0;

  constructor(id: string, reading: Reading) {
    this.#id = id;
    this.#reading = reading;
  }

  thread(): Thread {
    return { id: this.#id, ...(this.#title !== '' && { title: this.#title }), messages: [...this.#messages.values()] };
  }

  add(line: JsonObject): void {
    const kind = textIn(line, 'type');
    const title =
      textIn(line, 'summary') || textIn(line, 'customTitle') || textIn(line, 'aiTitle') || textIn(line, 'title');
    if (kind === 'summary' || kind.endsWith('-title')) this.#title = title;
    this.#lines += 1;
    if (kind === 'attachment') this.#queued(line, objectIn(line, 'attachment'));
    if ((kind !== 'user' && kind !== 'assistant') || !isJsonObject(line.message)) return;
    if (kind === 'assistant') this.#answer(line, line.message);
    else this.#input(line, line.message);
  }

  #answer(line: JsonObject, message: JsonObject): void {
    const id = textIn(message, 'id') || this.#idOf(line);
    const before = this.#messages.get(id);
    const content = objectsOf(message, 'content').flatMap(modelPart);
    const typed = textIn(message, 'content');
    const parts: readonly Part[] = typed === '' ? content : [{ type: 'text', text: typed }];
    const all = joined(before?.content ?? [], parts);
    if (all.length === 0) return;
    // Claude Code writes its own notices as answers of a model with this name.
    const model = textIn(message, 'model').replace('<synthetic>', '');
    const usage = usageOf(objectIn(message, 'usage'));
    this.#messages.set(id, {
      id,
      role: 'assistant',
      at: before?.at || timeOf(line.timestamp),
      content: all,
      ...cwdOf(line),
      ...(model !== '' && { model }),
      ...(usage !== null && { usage }),
      ...(line.isSidechain === true && { rests_on: 'foreign' }),
    });
  }

  #idOf(line: JsonObject): string {
    return textIn(line, 'uuid') || `#${this.#lines}`;
  }

  /** What the user typed while the model was at work is nowhere else; the program tells its notices in the same way. */
  #queued(line: JsonObject, attachment: JsonObject): void {
    const [mode, by] = [attachment.commandMode ?? 'prompt', objectIn(attachment, 'origin').kind ?? 'human'];
    if (attachment.type !== 'queued_command' || mode !== 'prompt' || by !== 'human') return;
    this.#input(line, { content: attachment.prompt });
  }

  #input(line: JsonObject, message: JsonObject): void {
    const id = this.#idOf(line);
    const base = { id, at: timeOf(line.timestamp), ...cwdOf(line) };
    const parts = objectsOf(message, 'content');
    const results = parts.filter(({ type }) => type === 'tool_result').map(resultOf);
    const texts = textsIn(message.content);
    // Of several texts the user typed the last; editors put theirs before it.
    const isOfHi = line.entrypoint === ENTRY_OF_HI;
    const said = texts.filter(
      (text, index) =>
        line.isMeta !== true && (isOfHi || !(isNoise(text) || (index < texts.length - 1 && isNotice(text)))),
    );
    if (said.length < texts.length)
      this.#reading.leaveOut('notices of the program and output of its commands', texts.length - said.length);
    const text = (isOfHi ? said : said.map(commandOf)).join('\n\n');
    const spoken: readonly Part[] = text === '' ? [] : [{ type: 'text', text }];
    // Beside results nothing tells whether the user typed it or the program added it.
    if (results.length > 0) this.#messages.set(id, { ...base, role: 'tool', content: [...results, ...spoken] });
    else if (line.isSidechain === true || line.isCompactSummary === true) {
      // The model wrote it, for another one or for itself.
      if (text !== '') this.#messages.set(id, { ...base, role: 'assistant', rests_on: 'foreign', content: spoken });
    } else {
      const content = [...parts.filter(({ type }) => type === 'image').flatMap(pictureOf), ...spoken];
      if (content.length > 0) this.#messages.set(id, { ...base, role: 'user', content });
    }
  }
}

const pictureOf = (part: JsonObject, index: number): readonly AttachedFile[] =>
  heldFile(`picture ${index + 1}`, Buffer.from(textIn(objectIn(part, 'source'), 'data'), 'base64'));

/** Whether Claude Code wrote the text into the user's place. */
const isNoise = (text: string): boolean =>
  /^\s*(?:<(?:local-command-(?:stdout|stderr|caveat)|bash-(?:stdout|stderr)|command-(?:stdout|stderr)|system-reminder|task-notification)>|\[Request interrupted by user)/.test(
    text,
  );

/** What the user typed to run one of the program's commands; any other text is unchanged. */
function commandOf(text: string): string {
  const ran = /^\s*<bash-input>/.test(text) ? within(text, 'bash-input') : null;
  if (ran !== null) return `!${ran}`;
  const name = /^\s*<command-/.test(text) ? within(text, 'command-name') : null;
  return name === null ? text : `${name} ${within(text, 'command-args') ?? ''}`.trim();
}

/** What stands in an element, which may look like elements itself; null if it is not there. */
function within(text: string, element: string): string | null {
  const [from, to] = [text.indexOf(`<${element}>`), text.lastIndexOf(`</${element}>`)];
  return from < 0 || to < from ? null : text.slice(from + element.length + 2, to);
}

function modelPart(part: JsonObject): readonly Part[] {
  switch (part.type) {
    case 'text':
      return textIn(part, 'text') === '' ? [] : [{ type: 'text', text: textIn(part, 'text') }];
    case 'thinking':
      return textIn(part, 'thinking') === '' ? [] : [{ type: 'thinking', text: textIn(part, 'thinking') }];
    case 'tool_use':
      return [
        { type: 'tool_call', call_id: textIn(part, 'id'), name: textIn(part, 'name'), args: objectIn(part, 'input') },
      ];
    default:
      return [];
  }
}

/**
 * The parts so far with those of the next line of the same answer: it has all of them again, some of them longer, or
 * one more, or the last one again.
 */
function joined(before: Content, next: Content): Content {
  const isWhole = next.length >= before.length && before.every((part, index) => isVersionOf(part, next[index]));
  if (isWhole) return next;
  const all = [...before];
  for (const part of next) {
    const last = all.at(-1);
    if (last !== undefined && isVersionOf(last, part))
      all[all.length - 1] = lengthOf(part) < lengthOf(last) ? last : part;
    else if (!all.some((one) => JSON.stringify(one) === JSON.stringify(part))) all.push(part);
  }
  return all;
}

type Content = ForeignMessage['content'];

function isVersionOf(one: Content[number], other: Content[number] | undefined): boolean {
  if (one.type === 'tool_call' && other?.type === 'tool_call') return one.call_id === other.call_id;
  if (one.type !== other?.type || !('text' in one && 'text' in other)) return false;
  return one.text.startsWith(other.text) || other.text.startsWith(one.text);
}

const lengthOf = (part: Content[number]): number => ('text' in part ? part.text.length : 0);

function resultOf(part: JsonObject): Part {
  const texts = listIn(part, 'content').flatMap((one) => (isJsonObject(one) ? textIn(one, 'text') : []));
  const text = textIn(part, 'content') || texts.join('\n');
  const base = { type: 'tool_result', call_id: textIn(part, 'tool_use_id'), name: 'tool' } as const;
  return part.is_error === true ? { ...base, error: text } : { ...base, result: text };
}

const cwdOf = (line: JsonObject): { readonly cwd?: string } => {
  const cwd = textIn(line, 'cwd');
  return cwd === '' ? {} : { cwd };
};

/** As Anthropic counts: what was read from a cache, or written to it, is not in `input_tokens`. */
function usageOf(usage: JsonObject): Usage | null {
  const count = (name: string): number => (typeof usage[name] === 'number' && usage[name] >= 0 ? usage[name] : 0);
  const [cached, output] = [count('cache_read_input_tokens'), count('output_tokens')];
  const input = count('input_tokens') + cached + count('cache_creation_input_tokens');
  if (input + output === 0) return null;
  return { input_tokens: input, output_tokens: output, cached_tokens: cached, context_tokens: input + output };
}
