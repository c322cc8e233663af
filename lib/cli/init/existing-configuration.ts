import type { ConfigFile } from '../../config/config.js';
import { readConfig } from '../../config/read-config.js';

import { HiError, systemCode } from '../../errors.js';
import { CONFIG_CHECK } from '../config-check/config-check.js';

import type { Prompts } from '../terminal/prompts.js';

/** The configuration before this set-up. */
export interface ExistingConfiguration {
  /** Its settings; empty when there is no file, or one that cannot be used. */
  readonly file: ConfigFile;
  /** Where an unusable file is copied before the new one is written; null when there is none. */
  readonly backupPath: string | null;
}

/** Reads the configuration, so that its other settings stay. Asks before an unusable file is moved out of the way. */
export async function readExistingConfiguration(path: string, prompts: Prompts): Promise<ExistingConfiguration> {
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
export function mergeSettings(previous: ConfigFile, chosen: ConfigFile): ConfigFile {
  const { $schema, provider, model, api_key, api_base, context_window, small_model, ...others } = previous;
  const sameServer = provider === chosen.provider && (api_base ?? null) === (chosen.api_base ?? null);
  const keepsWindow = context_window !== undefined && sameServer && model === chosen.model;
  const keepsSmall = small_model !== undefined && (sameServer || small_model?.provider !== undefined);
  return {
    ...chosen,
    ...(keepsWindow ? { context_window } : {}),
    ...(keepsSmall ? { small_model } : {}),
    ...others,
  };
}
