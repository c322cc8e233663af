import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ConfigFile } from '../../config/config.js';
import { findPaths } from '../../config/paths.js';
import { writeConfig } from '../../config/write.js';
import { EXIT_STATUS, HiError, isAbort } from '../../errors.js';
import type { ProviderSettings } from '../../providers/common/provider.js';
import type { CommonOptions } from '../base/command-options.js';
import { requireWritable } from '../base/require-writable.js';
import { idleTimeout } from '../base/settings.js';
import type { World } from '../base/world.js';
import { SCHEMA } from '../config-check/config-schema.js';
import {
  chooseAddress,
  chooseKey,
  chooseModel,
  chooseProvider,
  type Endpoint,
  type StoredSetting,
} from './choose-settings.js';
import { type ExistingConfiguration, mergeSettings, readExistingConfiguration } from './existing-configuration.js';
import { openPrompts, type Prompts } from './prompts.js';
import { testCall } from './test-call.js';

/** The schema's name beside `config.json`. */
const SCHEMA_FILE = 'config.schema.json';

/** Sets up step by step on a terminal and writes `config.json`. Leaving at any step writes nothing and is exit status 130. */
export async function init(world: World, options: CommonOptions): Promise<number> {
  if (!canAsk(world)) {
    throw new HiError('usage', 'The set-up needs a terminal.', {
      hint: "Write config.json by hand: 'hi config path' tells where, 'hi config schema' what it may hold.",
    });
  }
  const left = new AbortController();
  const stopListening = world.onStop(() => left.abort());
  try {
    await new SetUp(world, await openPrompts(world, left.signal), left.signal).run(options);
    return 0;
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
    world.stderr.write('\nNothing was written.\n');
    return EXIT_STATUS.interrupted;
  } finally {
    stopListening();
  }
}

/** Whether there is somebody to ask. */
export function canAsk(world: World): boolean {
  return world.stdinIs === 'terminal' && world.stderr.isTTY === true;
}

/** One run of the set-up. */
class SetUp {
  readonly #world: World;
  readonly #prompts: Prompts;
  readonly #signal: AbortSignal;

  constructor(world: World, prompts: Prompts, signal: AbortSignal) {
    this.#world = world;
    this.#prompts = prompts;
    this.#signal = signal;
  }

  async run(options: CommonOptions): Promise<void> {
    const { configFile } = await findPaths(this.#world.env, options.config ?? null);
    // Better to know before the first question than after the last.
    await requireWritable(dirname(configFile));
    const before = await readExistingConfiguration(configFile, this.#prompts);
    for (;;) {
      const place = await chooseProvider(this.#world, before.file, this.#prompts);
      const chosen = await this.#tryOut(place, before.file);
      if (chosen === null) continue;
      this.#signal.throwIfAborted();
      await write(configFile, before, chosen);
      this.#prompts.say(`Written: ${configFile}`);
      return;
    }
  }

  /** Key, address and model, with a test call; null to choose another provider. */
  async #tryOut(place: Endpoint, before: ConfigFile): Promise<ConfigFile | null> {
    const prompts = this.#prompts;
    let refused = false;
    let address: StoredSetting | null = null;
    for (;;) {
      if (address === null || !refused) address = await chooseAddress(this.#world, place, before, prompts);
      const key = await chooseKey(this.#world, place, before, refused, prompts);
      const settings = this.#access(key, address);
      const model = await chooseModel(place, settings, before, prompts, this.#signal);
      const failure =
        model instanceof HiError ? model : await testCall(place.member, settings, model, prompts, this.#signal);
      if (failure === null) return written(place, `${model}`, key, address);
      refused = failure.code === 'key';
      const keeps = model instanceof HiError ? defaultModelOf(place) : model;
      const answer = await prompts.select('What now?', [
        ['again', 'try again'],
        ['other', 'choose another provider'],
        ...(keeps === null ? [] : [['keep', `write it anyway, with the model ${keeps}`] as const]),
      ]);
      if (answer === 'other') return null;
      if (answer === 'keep' && keeps !== null) return written(place, keeps, key, address);
    }
  }

  #access(key: StoredSetting, address: StoredSetting): ProviderSettings {
    return {
      apiKey: key.value,
      apiBase: address.value,
      idleTimeout: Math.min(idleTimeout(this.#world), 60_000),
      env: this.#world.env,
    };
  }
}

/** The model to take where none could be asked for; only vendors themselves have one. */
function defaultModelOf({ member, elsewhere }: Endpoint): string | null {
  return elsewhere || member.keyVariables.length === 0 ? null : member.defaultModel;
}

function written({ member }: Endpoint, model: string, key: StoredSetting, address: StoredSetting): ConfigFile {
  return {
    provider: member.name,
    model,
    ...(key.stored === null ? {} : { api_key: key.stored }),
    ...(address.stored === null ? {} : { api_base: address.stored }),
  };
}

/** The configuration, and the schema beside it, so that editors find it without a network. */
async function write(path: string, { file, backupPath }: ExistingConfiguration, chosen: ConfigFile): Promise<void> {
  await writeConfig(join(dirname(path), SCHEMA_FILE), SCHEMA);
  // A copy: the file may be a link, which stays.
  if (backupPath !== null) await copyFile(path, backupPath);
  await writeConfig(path, { $schema: `./${SCHEMA_FILE}`, ...mergeSettings(file, chosen) });
}
