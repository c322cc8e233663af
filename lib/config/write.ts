import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../chat/json.js';
import { makeFolder, writeAside } from '../disk.js';
import { HiError, systemCode } from '../errors.js';
import type { ConfigFile } from './config.js';
import { parseConfig } from './read-config.js';
import type { ServersFile } from './server-settings.js';
import type { ModelSettings, RuleSetting } from './setting.js';

/**
 * Replaces a configuration file atomically, following a symbolic link. Only the user can read it, since it may hold a
 * key. Throws a `HiError` of code `config` naming the file.
 */
export async function writeConfig(path: string, config: object): Promise<void> {
  try {
    makeFolder(dirname(path), 0o700);
    writeAside(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600, private: true, synced: true });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HiError('config', `Cannot write '${path}': ${reason}`, {
      hint: 'Check the permissions of its folder.',
      cause,
    });
  }
}

/**
 * What the file contains, nothing where there is none. Throws a `HiError` of code `config`: what cannot be read must
 * not be replaced.
 */
async function written(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const code = systemCode(cause);
    if (code === 'ENOENT') return '{}';
    throw new HiError('config', `Cannot read '${path}': ${code}.`, { hint: 'Check its permissions.', cause });
  });
  return parseConfig(text, path);
}

/** Adds a rule to `tools.permissions.allow`, in place of one that allows the same with no more than that. */
export async function addRule(path: string, rule: RuleSetting): Promise<void> {
  const found = await written(path);
  const file: ConfigFile = isJsonObject(found) ? found : {};
  const allow = file.tools?.permissions?.allow ?? [];
  if (allow.some((known) => isDeepStrictEqual(known, rule))) return;
  const plain = typeof rule === 'string' ? null : { rule: rule.rule, folder: rule.folder };
  const others = allow.filter((known) => !isDeepStrictEqual(known, plain));
  const permissions = { ...file.tools?.permissions, allow: [...others, rule] };
  await writeConfig(path, { ...file, tools: { ...file.tools, permissions } });
}

/** Sets `provider` and `model`, or the model of a server by name. */
export async function keepModel(
  path: string,
  { provider, model, server }: Pick<ModelSettings, 'provider' | 'model'> & { readonly server: string | undefined },
): Promise<void> {
  const found = await written(path);
  const file: ConfigFile = isJsonObject(found) ? found : {};
  if (server === undefined) return await writeConfig(path, { ...file, provider, model });
  if (file.model?.split('/')[0] === server) return await writeConfig(path, { ...file, model: `${server}/${model}` });
  const named = { ...file.servers?.[server], model };
  await writeConfig(path, { ...file, servers: { ...file.servers, [server]: named } });
}

/**
 * Sets one setting, which `key` names by its path, if `accepts` the file as it is then. Returns what would be written;
 * it was where `isWritten`.
 */
export async function writeSetting(
  path: string,
  key: readonly string[],
  value: unknown,
  accepts: (file: unknown) => boolean,
): Promise<{ readonly file: unknown; readonly isWritten: boolean }> {
  const found = await written(path);
  const file = withValue(isJsonObject(found) ? found : {}, key, value);
  const isWritten = accepts(file);
  if (isWritten) await writeConfig(path, file);
  return { file, isWritten };
}

/** The object with a value at a path, whatever was there. */
function withValue(object: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const inner: unknown = Object.hasOwn(object, name) ? Object.entries(object).find(([key]) => key === name)?.[1] : {};
  return { ...object, [name]: rest.length === 0 ? value : withValue(isJsonObject(inner) ? inner : {}, rest, value) };
}

/** Changes `mcpServers`. */
export async function changeServers(path: string, change: (servers: ServersFile) => ServersFile): Promise<void> {
  const found = await written(path);
  const file: ConfigFile = isJsonObject(found) ? found : {};
  await writeConfig(path, { ...file, mcpServers: change(file.mcpServers ?? {}) });
}

/** Sets `share`; null removes it. */
export async function writeShare(path: string, share: NonNullable<ConfigFile['share']> | null): Promise<void> {
  const found = await written(path);
  const { share: _before, ...others } = isJsonObject(found) ? found : {};
  await writeConfig(path, share === null ? others : { ...others, share });
}
