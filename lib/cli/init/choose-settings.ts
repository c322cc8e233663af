import type { ConfigFile } from '../../config/config.js';
import { maskKey, readKey } from '../../config/read-key.js';
import { baseOf } from '../../config/resolve.js';
import { HiError } from '../../errors.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { probeModels } from '../base/settings.js';
import type { World } from '../base/world.js';
import type { Prompts } from './prompts.js';

/** Whose models, and whether they are on a server of somebody else that speaks the vendor's protocol. */
export interface Endpoint {
  readonly member: ProviderMember;
  readonly elsewhere: boolean;
}

/** A setting as it is used now, and as the file will hold it: null when it comes from the environment. */
export interface StoredSetting {
  readonly value: string | null;
  readonly stored: string | null;
}

const NOTHING: StoredSetting = { value: null, stored: null };

/** Asks whose models to talk to: those of before first, then those that need nothing more. */
export async function chooseProvider(world: World, before: ConfigFile, prompts: Prompts): Promise<Endpoint> {
  const own = await Promise.all(
    providers.map(async (member) => ({ member, elsewhere: false, ready: await readiness(world, member) })),
  );
  const others = providers.flatMap((member) =>
    member.elsewhere === undefined ? [] : [{ member, elsewhere: true, ready: null }],
  );
  const rank = (one: (typeof own)[number]): number => (belongsTo(before, one) ? 0 : one.ready === null ? 2 : 1);
  const places = [...own, ...others].toSorted((one, other) => rank(one) - rank(other));
  const chosen = await prompts.select(
    'Whose models do you want to talk to?',
    places.map(({ member, elsewhere, ready }, at) => {
      const title = elsewhere ? (member.elsewhere ?? '') : member.title;
      return [String(at), ready === null ? title : `${title} (${ready})`];
    }),
  );
  const place = places[Number(chosen)];
  if (place === undefined) throw new Error(`There is no choice ${chosen}.`);
  return place;
}

/** Whether what was set up before is of that place. */
function belongsTo(before: ConfigFile, { member, elsewhere }: Endpoint): boolean {
  return before.provider === member.name && (!member.elsewhere || elsewhere === Boolean(before.api_base));
}

/** What a vendor needs and is there already, in words; null when something is missing. */
async function readiness(world: World, member: ProviderMember): Promise<string | null> {
  const variable = keyVariable(world, member);
  if (variable !== null) return `key in ${variable}`;
  if (member.keyVariables.length > 0) return null;
  const models = await probeModels(world, member.name, baseOf(member, world.env));
  if (models === null) return null;
  return models.length === 0 ? 'running, but it has no model yet' : `running, ${countOf(models)}`;
}

function countOf({ length }: readonly string[]): string {
  return `${length} model${length === 1 ? '' : 's'}`;
}

/** This variable's key is meant for hi alone and wins over the file. */
const OWN_VARIABLE = 'HI_API_KEY';

function keyVariable(world: World, member: ProviderMember): string | null {
  if (member.keyVariables.length === 0) return null;
  return [OWN_VARIABLE, ...member.keyVariables].find((name) => world.env[name]?.trim()) ?? null;
}

/**
 * The key: from the environment or the file of before where it is there, else asked for without being shown. What was just refused is not taken
 * again.
 */
export async function chooseKey(
  world: World,
  place: Endpoint,
  before: ConfigFile,
  refused: boolean,
  prompts: Prompts,
): Promise<StoredSetting> {
  const { member, elsewhere } = place;
  const variable = keyVariable(world, member);
  if (variable === OWN_VARIABLE || (variable !== null && !elsewhere && !refused)) {
    prompts.say(`Its key is in ${variable}.`);
    return { value: world.env[variable]?.trim() ?? null, stored: null };
  }
  if (member.keyVariables.length === 0) return NOTHING;
  const kept = refused || !belongsTo(before, place) ? null : (before.api_key ?? null);
  const empty = kept !== null ? `empty: ${maskKey(kept)} as before` : elsewhere ? 'empty: it needs none' : '';
  const hints = [elsewhere ? '' : `from ${member.keyPage}`, empty].filter((hint) => hint !== '').join('; ');
  const question = `${elsewhere ? 'Its key' : `Your key for ${member.title}`}${hints === '' ? '' : ` (${hints})`}:`;
  for (;;) {
    const typed = await prompts.secret(
      question,
      (text) => text.trim() !== '' || empty !== '' || 'Type or paste the key.',
    );
    const stored = typed.trim() || kept;
    try {
      return { value: await readKey(stored), stored };
    } catch (thrown) {
      if (!(thrown instanceof HiError)) throw thrown;
      printError(thrown, prompts);
    }
  }
}

/** The address: asked for only where the server is one's own and does not answer where it usually is. */
export async function chooseAddress(
  world: World,
  place: Endpoint,
  before: ConfigFile,
  prompts: Prompts,
): Promise<StoredSetting> {
  const { member, elsewhere } = place;
  const kept = belongsTo(before, place) ? (before.api_base ?? null) : null;
  if (elsewhere) {
    const typed = await prompts.input(
      `Its address, such as http://127.0.0.1:8080/v1${kept === null ? '' : ` (empty: ${kept})`}:`,
      (text) => (text === '' && kept !== null) || checkAddress(text),
    );
    return { value: typed || kept, stored: typed || kept };
  }
  const given = world.env.HI_API_BASE || baseOf(member, world.env);
  if (member.keyVariables.length > 0) {
    return kept === null || world.env.HI_API_BASE ? { value: given, stored: null } : { value: kept, stored: kept };
  }
  if (given !== null) return { value: given, stored: null };
  for (const known of [kept, null]) {
    if ((await probeModels(world, member.name, known)) !== null) return { value: known, stored: known };
  }
  prompts.say(`${member.title} does not answer on this machine.`);
  const typed = await prompts.input(
    'Its address (empty: try this machine again):',
    (text) => text === '' || checkAddress(text),
  );
  return typed === '' ? NOTHING : { value: typed, stored: typed };
}

function checkAddress(text: string): true | string {
  return (/^https?:\/\/./.test(text) && URL.canParse(text)) || 'An address begins with http:// or https://';
}

/** The model, from the vendor's own list, or typed where the server has no list. The error when it does not let one ask. */
export async function chooseModel(
  { member }: Endpoint,
  settings: ProviderSettings,
  before: ConfigFile,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<string | HiError> {
  prompts.say('Asking for the list of models …');
  const listed = await list(member, settings, AbortSignal.any([signal, AbortSignal.timeout(20_000)]));
  signal.throwIfAborted();
  if (listed instanceof HiError) {
    printError(listed, prompts);
    if (!isWithoutList(listed)) return listed;
  } else if (listed.length > 0) {
    const usual = [before.model, member.defaultModel].filter((name) => name !== undefined && listed.includes(name));
    return await prompts.search(
      'Which model?',
      [...new Set([...usual, ...listed])].filter((name) => name !== undefined),
    );
  } else if (member.keyVariables.length === 0) {
    const hint = member.hints?.firstModel ?? 'Get one first.';
    const error = new HiError('model', `${member.title} has no model yet.`, { hint });
    printError(error, prompts);
    return error;
  }
  return await prompts.input('The name of the model:', (text) => text.trim() !== '' || 'Type the name of a model.');
}

async function list(
  member: ProviderMember,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly string[] | HiError> {
  try {
    return await member.listModels(settings, signal);
  } catch (thrown) {
    if (thrown instanceof HiError) return thrown;
    if (signal.aborted) return new HiError('network', 'No list of models came within 20 seconds.');
    throw thrown;
  }
}

/** A server may be able to talk and have no list. */
function isWithoutList({ code }: HiError): boolean {
  return code === 'model' || code === 'request' || code === 'malformed';
}

/** Tells what went wrong and what helps; the set-up goes on. */
export function printError({ message, hint }: HiError, prompts: Prompts): void {
  prompts.say(`${message}${hint === null ? '' : `\n  ${hint}`}`);
}
