import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ConfigFile } from '../../config/config.js';
import { findPaths } from '../../config/paths.js';
import { writeConfig } from '../../config/write.js';
import { EXIT_STATUS, HiError, isAbort } from '../../errors.js';
import type { ProviderSettings } from '../../providers/common/provider.js';
import type { CommonOptions } from '../base/command-options.js';
import { requireWritable } from '../base/require-writable.js';
import { type EmptyServer, timeLimits } from '../base/settings.js';
import { TEST_LIMIT } from '../base/with-timeout.js';
import type { World } from '../base/world.js';
import { SCHEMA } from '../config-check/config-schema.js';
import { offerModel } from '../first-model/offer-model.js';
import { openPrompts, type Prompts } from '../terminal/prompts.js';
import {
  chooseAddress,
  chooseKey,
  chooseModel,
  chooseProvider,
  type Endpoint,
  type StoredSetting,
} from './choose-settings.js';
import { type ExistingConfiguration, mergeSettings, readExistingConfiguration } from './existing-configuration.js';
import { testCall } from './test-call.js';

/** The schema's file name, next to `config.json`. */
const SCHEMA_FILE = 'config.schema.json';

/**
 * Sets up step by step on a terminal and writes `config.json`. Cancelling at any step writes nothing and resolves to exit status 130. `empty` is a server that
 * only lacks a model, which is asked about first.
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

  constructor(world: World, prompts: Prompts, signal: AbortSignal) {
    this.#world = world;
    this.#prompts = prompts;
    this.#signal = signal;
  }

  async run(options: CommonOptions, empty: EmptyServer | null): Promise<void> {
    const { configFile } = await findPaths(this.#world.env, options.config ?? null);
    // Better to know before the first question than after the last.
    await requireWritable(dirname(configFile));
    const previous = await readExistingConfiguration(configFile, this.#prompts);
    let downloaded =
      empty && (await offerModel(this.#world, empty, 'set up another provider', this.#prompts, this.#signal));
    for (;;) {
      const endpoint =
        empty && downloaded
          ? { member: empty.member, isCompatible: false }
          : await chooseProvider(this.#world, previous.file, this.#prompts);
      const chosen = await this.#configure(endpoint, previous.file, downloaded);
      downloaded = null;
      if (chosen === null) continue;
      this.#signal.throwIfAborted();
      await write(configFile, previous, chosen);
      this.#prompts.say(`Wrote ${configFile}.`);
      return;
    }
  }

  /** Asks for key, address and model, where it was not just downloaded, and makes a test call. Null to choose another provider. */
  async #configure(endpoint: Endpoint, previous: ConfigFile, downloaded: string | null): Promise<ConfigFile | null> {
    const prompts = this.#prompts;
    let name = downloaded;
    let refused = false;
    let address: StoredSetting | null = null;
    for (;;) {
      if (address === null || !refused) address = await chooseAddress(this.#world, endpoint, previous, prompts);
      const key = await chooseKey(this.#world, endpoint, previous, refused, prompts);
      const settings = this.#access(key, address);
      const model = name ?? (await chooseModel(this.#world, endpoint, settings, previous, prompts, this.#signal));
      name = null;
      const failure =
        model instanceof HiError ? model : await testCall(endpoint.member, settings, model, prompts, this.#signal);
      if (failure === null) return chosenSettings(endpoint, `${model}`, key, address);
      refused = failure.code === 'key';
      const untested = model instanceof HiError ? defaultModelOf(endpoint) : model;
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

/** The model to write without a test; null for servers of which hi knows no model. */
function defaultModelOf({ member, isCompatible }: Endpoint): string | null {
  return isCompatible || member.keyVariables.length === 0 ? null : member.defaultModel;
}

function chosenSettings({ member }: Endpoint, model: string, key: StoredSetting, address: StoredSetting): ConfigFile {
  return {
    provider: member.name,
    model,
    ...(key.stored === null ? {} : { api_key: key.stored }),
    ...(address.stored === null ? {} : { api_base: address.stored }),
  };
}

/** Writes the configuration, and the schema next to it, so that editors find it without a network. */
async function write(path: string, { file, backupPath }: ExistingConfiguration, chosen: ConfigFile): Promise<void> {
  await writeConfig(join(dirname(path), SCHEMA_FILE), SCHEMA);
  // Copied, not renamed: the file may be a link, which stays.
  if (backupPath !== null) await copyFile(path, backupPath);
  await writeConfig(path, { $schema: `./${SCHEMA_FILE}`, ...mergeSettings(file, chosen) });
}
