import type { ConfigFile } from '../../config/config.js';
import { readConfig } from '../../config/read-config.js';

import { HiError, systemCode } from '../../errors.js';
import { CONFIG_CHECK } from '../config-check/config-check.js';

import type { Prompts } from './prompts.js';

/** What an earlier set-up left. */
export interface ExistingConfiguration {
  /** Its settings; none when there was no set-up, or one that cannot be used. */
  readonly file: ConfigFile;
  /** Where a file that cannot be used is moved when the new one is written, null when nothing is in the way. */
  readonly backupPath: string | null;
}

/** Reads what an earlier set-up wrote, so that its other settings stay. Whether a file that cannot be used may be moved aside is asked. */
export async function readExistingConfiguration(path: string, prompts: Prompts): Promise<ExistingConfiguration> {
  try {
    return { file: (await readConfig(path, CONFIG_CHECK, false)).file ?? {}, backupPath: null };
  } catch (thrown) {
    // What cannot even be read cannot be moved either.
    if (!(thrown instanceof HiError) || systemCode(thrown.cause) !== null) throw thrown;
    prompts.say(thrown.message);
    const backupPath = `${path}.old`;
    const answer = await prompts.select('This file cannot be used.', [
      ['move', `move it to ${backupPath} and begin anew`],
      ['leave', 'leave'],
    ]);
    if (answer === 'leave') throw new HiError('interrupted', 'The set-up was left.', { cause: thrown });
    return { file: {}, backupPath };
  }
}

/** The earlier settings with what was chosen now. What was said of another model or provider does not hold for this one. */
export function mergeSettings(before: ConfigFile, chosen: ConfigFile): ConfigFile {
  const { $schema, provider, model, api_key, api_base, context_window, small_model, ...others } = before;
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
