import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { textOf } from '../../chat/message.js';
import { type ModelFacts, type ModelMemory, mergeFacts } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import type { ConfigFile } from '../../config/config.js';
import { findPaths } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { writeConfig } from '../../config/write.js';
import { asHiError, EXIT_STATUS, HiError, isAbort, systemCode } from '../../errors.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import type { PartialAnswer } from '../../session/turn/failed-request.js';
import { requestAnswer } from '../../session/turn/request-answer.js';
import { SPECS } from '../../tools/tool-specs.js';
import { openPrompts, type Prompts } from '../ask/asker.js';
import type { CommonOptions } from '../base/options.js';
import {
  CONFIG_CHECK,
  type EmptyServer,
  requireWritable,
  TEST_HINT,
  TEST_LIMIT,
  timeLimits,
  withTimeout,
} from '../base/settings.js';
import type { World } from '../base/world.js';
import { SCHEMA } from '../config-check/config-schema.js';
import {
  chooseAddress,
  chooseKey,
  chooseModel,
  chooseProvider,
  type Endpoint,
  printError,
  type StoredSetting,
} from './choose-settings.js';
import { offerModel } from './first-model.js';
import { findServers, keptServers } from './found-servers.js';

/** The schema's file name, next to `config.json`. */
const SCHEMA_FILE = 'config.schema.json';

/**
 * Sets up step by step on a terminal and writes `config.json`. Cancelling at any step writes nothing and resolves to
 * exit status 130. `empty` is a server that only lacks a model, which is asked about first.
 */
export async function init(world: World, options: CommonOptions, empty: EmptyServer | null = null): Promise<number> {
  if (!canAsk(world)) {
    throw new HiError('usage', 'The set-up needs a terminal.', {
      hint: "Write config.json yourself: 'hi config path' prints where, 'hi config schema' what it may contain.",
    });
  }
  const cancelled = new AbortController();
  const stopListening = world.onStop(() => cancelled.abort());
  try {
    await new SetUp(world, await openPrompts(world, cancelled.signal), cancelled.signal).run(options, empty);
    return 0;
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
    world.stderr.write('\nNothing was written.\n');
    return EXIT_STATUS.interrupted;
  } finally {
    stopListening();
  }
}

/** Whether the user can be asked. */
export function canAsk(world: World): boolean {
  return world.stdinIs === 'terminal' && world.stderr.isTTY === true;
}

/** One run of the set-up. */
class SetUp {
  readonly #world: World;
  readonly #prompts: Prompts;
  readonly #signal: AbortSignal;
  /** What was typed for a provider that did not work: its address and key are offered again. */
  readonly #typed = new Map<string, ConfigFile>();

  constructor(world: World, prompts: Prompts, signal: AbortSignal) {
    this.#world = world;
    this.#prompts = prompts;
    this.#signal = signal;
  }

  async run(options: CommonOptions, empty: EmptyServer | null): Promise<void> {
    const { configFile, history } = await findPaths(this.#world.env, options.config ?? null);
    // Better to know before the first question than after the last.
    await requireWritable(dirname(configFile));
    const previous = await readExistingConfiguration(configFile, this.#prompts);
    this.#greet(previous.file, existsSync(history));
    let downloaded =
      empty && (await offerModel(this.#world, empty, 'set up another provider', this.#prompts, this.#signal));
    for (;;) {
      const found = await findServers(this.#world);
      const endpoint: Endpoint =
        empty && downloaded
          ? { member: empty.member, isCompatible: false }
          : await chooseProvider(this.#world, found, previous.file, this.#prompts);
      const chosen = await this.#configure(endpoint, previous.file, downloaded);
      downloaded = null;
      if (chosen === null) continue;
      this.#signal.throwIfAborted();
      const others = found.filter(({ member, isThird }) => isThird || member !== endpoint.member);
      const kept = keptServers(others, endpoint.found, { ...chosen, servers: previous.file.servers ?? {} });
      await write(configFile, previous, { ...chosen, servers: { ...kept, ...chosen.servers } });
      this.#prompts.say(`Wrote ${configFile}.`);
      if (Object.keys(kept).length > 0) this.#prompts.say(keptText(kept));
      return;
    }
  }

  /** Says who asks and why. */
  #greet({ provider, servers }: ConfigFile, hasHistory: boolean): void {
    const kept = hasHistory ? ' What was said before is kept.' : '';
    this.#prompts.say(
      provider === undefined && servers === undefined
        ? `Welcome to hi, a chat that never ends, with a model of your choice.${kept}\nIt asks what is needed, a question or three. Ctrl-C leaves, and writes nothing.`
        : 'These are the settings of hi. Enter keeps what is there; Ctrl-C leaves, and writes nothing.',
    );
  }

  /**
   * Asks for key, address and model, where it was not just downloaded, and makes a test call. Null to choose another
   * provider.
   */
  async #configure(endpoint: Endpoint, previous: ConfigFile, downloaded: string | null): Promise<ConfigFile | null> {
    const prompts = this.#prompts;
    let name = downloaded;
    let refused = false;
    const id = `${endpoint.member.name} ${endpoint.isCompatible} ${endpoint.found?.service?.name ?? ''}`;
    let address: StoredSetting | null = null;
    for (;;) {
      const before = this.#typed.get(id) ?? previous;
      if (address === null || !refused) address = await chooseAddress(this.#world, endpoint, before, prompts);
      const key = await chooseKey(this.#world, endpoint, before, refused, prompts);
      const settings = this.#access(key, address);
      const model = name ?? (await chooseModel(this.#world, endpoint, settings, before, prompts, this.#signal));
      name = null;
      const failure =
        model instanceof HiError ? model : await testCall(endpoint.member, settings, model, prompts, this.#signal);
      if (failure === null) return chosenSettings(endpoint, `${model}`, key, address);
      refused = failure.code === 'key';
      this.#typed.set(id, typedSettings(endpoint, model, key, address, refused));
      const untested = model instanceof HiError ? defaultModelOf(endpoint, this.#world) : model;
      const answer = await prompts.select('What now?', [
        ['again', 'try again'],
        ['other', 'choose another provider'],
        ...(untested === null ? [] : [['keep', `write it anyway, with the model ${untested}`] as const]),
      ]);
      if (answer === 'other') return null;
      if (answer === 'keep' && untested !== null) return chosenSettings(endpoint, untested, key, address);
    }
  }

  #access(key: StoredSetting, address: StoredSetting): ProviderSettings {
    const { idleTimeout, nearbyTimeout = 0 } = timeLimits(this.#world);
    return {
      apiKey: key.value,
      apiBase: address.value,
      idleTimeout: Math.min(idleTimeout, 60_000),
      nearbyTimeout: Math.min(nearbyTimeout, TEST_LIMIT),
      env: this.#world.env,
    };
  }
}

/** What was typed, to be offered again; not a key that was refused. */
function typedSettings(
  endpoint: Endpoint,
  model: string | HiError,
  key: StoredSetting,
  address: StoredSetting,
  refused: boolean,
): ConfigFile {
  const { service } = endpoint.found ?? {};
  if (service !== undefined) {
    const typed = {
      ...(!refused && key.stored !== null && { api_key: key.stored }),
      ...(typeof model === 'string' && { model }),
    };
    return { servers: { [service.name]: typed } };
  }
  const { api_key, model: name, ...others } = chosenSettings(endpoint, `${model}`, key, address);
  return { ...others, ...(!refused && api_key && { api_key }), ...(typeof model === 'string' && { model: name }) };
}

/** The model to write without a test; null for servers of which hi knows no model. */
function defaultModelOf({ member, isCompatible, found }: Endpoint, { env }: World): string | null {
  if (found?.service !== undefined) return found.service.model(env);
  return isCompatible || member.keyVariables.length === 0 ? null : member.defaultModel;
}

function chosenSettings(
  { member, found }: Endpoint,
  model: string,
  key: StoredSetting,
  address: StoredSetting,
): ConfigFile {
  const { service } = found ?? {};
  if (service !== undefined) {
    const entry = { model, ...(key.stored !== null && { api_key: key.stored }) };
    return { model: service.name, servers: { [service.name]: entry } };
  }
  return {
    provider: member.name,
    model,
    ...(key.stored === null ? {} : { api_key: key.stored }),
    ...(address.stored === null ? {} : { api_base: address.stored }),
  };
}

const keptText = (kept: NonNullable<ConfigFile['servers']>): string =>
  `Also found, and kept for -m: ${Object.entries(kept)
    .map(([name, { model }]) => `${name} (${model})`)
    .join(', ')}.`;

/** Writes the configuration, and the schema next to it, so that editors find it without a network. */
async function write(path: string, { file, backupPath }: ExistingConfiguration, chosen: ConfigFile): Promise<void> {
  await writeConfig(join(dirname(path), SCHEMA_FILE), SCHEMA);
  // Copied, not renamed: the file may be a link, which stays.
  if (backupPath !== null) await copyFile(path, backupPath);
  await writeConfig(path, { $schema: `./${SCHEMA_FILE}`, ...mergeSettings(file, chosen) });
}

/** The configuration before this set-up. */
interface ExistingConfiguration {
  /** Its settings; empty when there is no file, or one that cannot be used. */
  readonly file: ConfigFile;
  /** Where an unusable file is copied before the new one is written; null when there is none. */
  readonly backupPath: string | null;
}

/** Reads the configuration, so that its other settings stay. Asks before an unusable file is moved out of the way. */
async function readExistingConfiguration(path: string, prompts: Prompts): Promise<ExistingConfiguration> {
  try {
    return { file: (await readConfig(path, CONFIG_CHECK, false)).file ?? {}, backupPath: null };
  } catch (thrown) {
    // A file that cannot be read cannot be moved either.
    if (!(thrown instanceof HiError) || systemCode(thrown.cause) !== null) throw thrown;
    prompts.say(thrown.message);
    const backupPath = `${path}.old`;
    const answer = await prompts.select('This file cannot be used.', [
      ['move', `move it to ${backupPath} and start over`],
      ['quit', 'quit'],
    ]);
    if (answer === 'quit') throw new HiError('interrupted', 'The set-up was cancelled.', { cause: thrown });
    return { file: {}, backupPath };
  }
}

/** The previous settings with the new choices. Settings of another model or provider are dropped. */
function mergeSettings(previous: ConfigFile, chosen: ConfigFile): ConfigFile {
  const { $schema, provider, model, api_key, api_base, context_window, small_model, ...others } = previous;
  const servers = { ...previous.servers, ...chosen.servers };
  const sameServer = provider === chosen.provider && (api_base ?? null) === (chosen.api_base ?? null);
  const keepsWindow = context_window !== undefined && sameServer && model === chosen.model;
  const keepsSmall =
    small_model !== undefined && (sameServer || typeof small_model === 'string' || small_model?.provider !== undefined);
  const { servers: _servers, ...settings } = chosen;
  return {
    ...settings,
    ...(keepsWindow ? { context_window } : {}),
    ...(keepsSmall ? { small_model } : {}),
    ...others,
    ...(Object.keys(servers).length > 0 && { servers }),
  };
}

/** How long a server may take to report a model's capabilities. Milliseconds. */
const TIME_LIMIT = 3000;

/** The window assumed for the call if the server does not report the model's. */
const USUAL = 8192;

/**
 * Makes one small call, with tools as in a turn, to check that key, address and model work together. Prints the result,
 * and what the server reports about the model. Resolves to the error, or null.
 */
async function testCall(
  member: ProviderMember,
  settings: ProviderSettings,
  model: string,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<HiError | null> {
  prompts.say(`Testing ${model} …`);
  const memory = memoryOf(await askFacts(member, settings, model, signal));
  const answer: PartialAnswer = { parts: [], end: null };
  const ask = async (limited: AbortSignal): Promise<void> => {
    const request = requestOf(model, memory.facts);
    const asked = { provider: await member.create(settings), memory };
    for await (const event of requestAnswer(asked, request, answer, limited))
      if (event.type === 'notice') prompts.say(event.text);
  };
  try {
    await withTimeout(TEST_LIMIT, signal, ask, TEST_HINT);
    const text = textOf(answer.parts).trim();
    prompts.say(text === '' ? 'It answered without text.' : `It answered: ${text.slice(0, 80)}`);
    sayFacts(memory.facts, prompts);
    return null;
  } catch (thrown) {
    signal.throwIfAborted();
    const error = asHiError(thrown);
    printError(error, prompts);
    return error;
  }
}

/** Nothing if the server does not say. */
async function askFacts(
  member: ProviderMember,
  settings: ProviderSettings,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT)]);
    return await member.askFacts(settings, { model, known: {} }, limited);
  } catch {
    signal.throwIfAborted();
    return {};
  }
}

/** A memory for the set-up alone: nothing is written before it is finished. */
function memoryOf(known: ModelFacts): ModelMemory {
  let facts = known;
  return {
    get facts() {
      return facts;
    },
    learn(more) {
      facts = mergeFacts(facts, more);
    },
  };
}

function requestOf(model: string, { context_window = USUAL, takes }: ModelFacts): ChatRequest {
  return {
    model,
    system: ['You answer in one word.'],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }],
    tools: takes?.tools === false ? [] : SPECS,
    thinking: null,
    context_window,
    estimated_tokens: 700,
    max_output_tokens: 256,
    attachments: new Map(),
  };
}

function sayFacts({ context_window, takes }: ModelFacts, prompts: Prompts): void {
  if (context_window !== undefined) prompts.say(`Its context window has ${context_window} tokens.`);
  if (takes?.tools === false) prompts.say('It does not support tools: it answers without them.');
}
