import { HiError } from '../errors.js';
import { withoutHidden } from './base/harmless-text.js';
import type { CallResult } from './calls/read-result.js';
import { readContents, readMessages } from './calls/read-result.js';
import type { CallLimits } from './connection/client.js';
import type { PromptDefinition } from './definitions/definition.js';
import type { KnownServer } from './known-server.js';

/** A server's prompt, as called by the user. */
export interface ServerPrompt {
  /** What is typed after the slash: `SERVER:PROMPT`. */
  readonly typed: string;
  readonly server: string;
  readonly definition: PromptDefinition;
}

/** A resource that a message can mention, or the start of a template. */
export interface ServerResource {
  /** What is typed after the `@`: `SERVER:uri`. */
  readonly typed: string;
  readonly server: string;
  readonly uri: string;
  /** Whether more must be typed after it. */
  readonly isTemplate: boolean;
}

/** What the user can call: the servers' prompts and resources, as cached from the last time. */
export class UserCalls {
  readonly #servers: readonly KnownServer[];

  constructor(servers: readonly KnownServer[]) {
    this.#servers = servers;
  }

  get prompts(): readonly ServerPrompt[] {
    const all = this.#servers.flatMap(({ entry: { name: server }, offer }) =>
      (offer?.prompts ?? []).map((definition) => ({
        typed: `${oneWord(server)}:${oneWord(definition.name)}`,
        server,
        definition,
      })),
    );
    return all.filter(({ typed }, at) => all.findIndex((one) => one.typed === typed) === at);
  }

  /** The known resources. For a template, the part before its first placeholder. */
  get resources(): readonly ServerResource[] {
    return this.#servers.flatMap(({ entry: { name: server }, offer }) => [
      ...(offer?.resources ?? []).map(({ uri }) => ({ typed: `${server}:${uri}`, server, uri, isTemplate: false })),
      ...(offer?.templates ?? []).map(({ uri: template }) => {
        const [uri = ''] = template.split('{');
        return { typed: `${server}:${uri}`, server, uri, isTemplate: true };
      }),
    ]);
  }

  /** The server and address in a word after an `@`, given its possible readings; null if it does not start with a server. */
  resourceIn(words: readonly string[]): ServerResource | null {
    const [longest = ''] = words;
    const server = this.#servers.find(({ entry: { name } }) => longest.startsWith(`${name}:`))?.entry.name;
    if (server === undefined) return null;
    const known = this.resources.find(({ typed, isTemplate }) => !isTemplate && words.includes(typed));
    // A full stop after an unknown address belongs to the sentence.
    const typed = known?.typed ?? words.find((word) => !/[.,;:!?)\]}>"'»”’]$/.test(word)) ?? longest;
    const uri = typed.slice(server.length + 1);
    return uri === '' ? null : { typed, server, uri, isTemplate: false };
  }

  /** The messages of a prompt. Throws a `HiError`. */
  async prompt(
    { server, definition }: ServerPrompt,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const known = this.#server(server);
    const given = await known.prompt(definition.name, args, limitsOf(known, signal));
    return withoutHiddenText(readMessages(given));
  }

  /** The content of a resource. Throws a `HiError`. */
  async read({ server, uri }: ServerResource, signal: AbortSignal): Promise<CallResult> {
    const known = this.#server(server);
    const given = await known.read(uri, limitsOf(known, signal));
    return withoutHiddenText(readContents(given));
  }

  #server(name: string): KnownServer {
    const found = this.#servers.find(({ entry }) => entry.name === name);
    if (found === undefined) throw new HiError('usage', `There is no server '${name}'.`);
    return found;
  }
}

/** A name as one word without slashes: a line with a slash is a path. */
const oneWord = (name: string): string => name.replace(/[\s/]/g, '_');

const limitsOf = ({ entry }: KnownServer, signal: AbortSignal): CallLimits => ({
  silence: entry.timeout,
  signal,
  progress: () => {},
});

const withoutHiddenText = (result: CallResult): CallResult => ({ ...result, text: withoutHidden(result.text) });
