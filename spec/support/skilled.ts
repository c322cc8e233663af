import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Entry } from '../../lib/chat/entry.js';
import type { SkillRecord } from '../../lib/chat/message.js';
import { type Home, makeHome, PROGRAM, RUNTIME, type Run, runProgram } from './program.js';
import { type Reply, type SentRequest, startScriptedServer } from './scripted-server.js';
import { openTerminal, type Terminal } from './terminal.js';

/** What a spec of skills scripts; what it leaves out works. */
export interface SkillScript {
  /** The files of the skills folder: `git` and so on when absent. */
  readonly skills?: Readonly<Record<string, string | Uint8Array>>;
  /** More of the configuration. */
  readonly config?: object;
  /** What both models say. */
  readonly answer?: (request: SentRequest, index: number) => Reply;
}

/** The built program with a folder of skills and a scripted server that is all of its models. */
export interface Skilled extends AsyncDisposable {
  readonly home: Home;
  /** Where a file of the skills folder is. */
  place(file: string): string;
  put(file: string, content: string | Uint8Array): void;
  /** What any model was asked, oldest first. */
  readonly requests: readonly SentRequest[];
  /** What the main model was asked. */
  asked(): readonly SentRequest[];
  /** The skills whose text each request of the main model had, in the order of the request. */
  sent(): readonly (readonly string[])[];
  /** What the history recorded with each user message. */
  records(): readonly SkillRecord[];
  hi(...args: readonly string[]): Promise<Run>;
  ask(text: string): Promise<Run>;
  /** `hi chat` without a terminal, with these lines. */
  chat(...lines: readonly string[]): Promise<Run>;
  /** Starts `hi chat` in a terminal and waits for its prompt. */
  open(): Promise<Terminal>;
}

const MAIN = 'scripted';

/** The prompt on the last line, with nothing typed. */
export const PROMPT = /^hi( \d+%)?>$/m;

/** The text of a skill as `sent` recognises it. */
export const howTo = (name: string): string => `How to use ${name}.`;

/** A `SKILL.md` about its name and nothing else. */
export const skillFile = (name: string): string =>
  `---\nname: ${name}\ndescription: About ${name}.\n---\n${howTo(name)}`;

/** Such a skill for each of these names. */
export const skillsOf = (...names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillFile(name)]));

/** Every message is matched, also where all skills together would fit. */
export const MATCHED = { skills: { mode: 'matched' } };

/** Starts the server and makes a home whose configuration points at it. */
export async function skilled(script: SkillScript = {}): Promise<Skilled> {
  const { skills = skillsOf('git', 'docker', 'sql'), config, answer = () => ({ text: 'Fine.' }) } = script;
  const server = await startScriptedServer(answer);
  const home = makeHome({ provider: 'openai', model: MAIN, api_base: server.base, ...config });
  const place = (file: string): string => join(home.config, 'skills', file);
  const put = (file: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(place(file)), { recursive: true });
    writeFileSync(place(file), content);
  };
  for (const [file, content] of Object.entries(skills)) put(file, content);
  let terminal: Terminal | null = null;
  const asked = () => server.requests.filter(({ model }) => model === MAIN);
  return {
    home,
    place,
    put,
    requests: server.requests,
    asked,
    sent: () => asked().map(skillsIn),
    records() {
      const entries: readonly Entry[] = JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString());
      return entries.flatMap((entry) => ('role' in entry && entry.skills ? [entry.skills] : []));
    },
    hi: (...args) => runProgram(home, args),
    ask: (text) => runProgram(home, ['ask', text]),
    chat: (...lines) => runProgram(home, ['chat'], { input: `${lines.join('\n')}\n` }),
    async open() {
      terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], { env: home.env, cwd: home.work });
      await terminal.until(PROMPT, 20_000);
      return terminal;
    },
    async [Symbol.asyncDispose]() {
      await terminal?.close();
      await server.close();
      home.remove();
    },
  };
}

/** The system texts of a request, in order. */
export function systemOf(request: SentRequest | undefined): string {
  return textOf((request?.messages ?? []).filter(({ role }) => role === 'system' || role === 'developer'));
}

/**
 * What stands first in a request: the system texts, which begin the first message of the user where the server takes no
 * others.
 */
export const standingOf = (request: SentRequest): string => systemOf(request) || textOf(request.messages.slice(0, 1));

function textOf(messages: SentRequest['messages']): string {
  return messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n');
}

function skillsIn(request: SentRequest): readonly string[] {
  return [...standingOf(request).matchAll(/How to use (\w+)\./g)].map((match) => match[1] ?? '');
}
