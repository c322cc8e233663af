import { isOwnAddress } from '../../chat/model.js';
import { quantity } from '../../chat/text.js';
import type { ConfigFile } from '../../config/config.js';
import { baseOf } from '../../config/resolve.js';
import type { NamedServer } from '../../config/setting.js';
import type { ProviderMember } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { type KnownServer, readyServers } from '../../servers/known-servers.js';
import { probeModels } from '../base/settings.js';
import type { World } from '../base/world.js';

/** A server found in the environment or on this machine. */
export interface FoundServer {
  readonly member: ProviderMember;
  /** Its address, and whether the configuration has to hold it; null for the usual one. */
  readonly address: { readonly url: string; readonly isStored: boolean } | null;
  /** True unless it is the vendor's own. Such a server needs no key, except for a service. */
  readonly isThird: boolean;
  /** The service whose variable is set. */
  readonly service?: KnownServer;
  /** Its models, where it listed them without a key. */
  readonly models?: readonly string[];
  /** Why it is offered: `key in GROQ_API_KEY`, `running, 2 models`. */
  readonly why: string;
}

/** The ports at which servers with OpenAI's protocol listen unless they are told otherwise, and what listens there. */
export const USUAL_PORTS: readonly (readonly [port: number, programs: string])[] = [
  [8080, 'llama.cpp, LocalAI, MLX'],
  [1234, 'LM Studio'],
  [8000, 'vLLM'],
  [1337, 'Jan'],
  [30000, 'SGLang'],
  [5001, 'KoboldCpp'],
  [5000, 'text-generation-webui, TabbyAPI'],
  [4891, 'GPT4All'],
  [4000, 'LiteLLM'],
];

/** How long a server on this machine may take to list its models, in milliseconds. */
const PATIENCE = 1000;

/**
 * Every server that can be used without another word: with a key in the environment, at an address there, running at
 * its vendor's usual address or on one of the usual ports of this machine.
 */
export async function findServers(world: World): Promise<readonly FoundServer[]> {
  const looks = [
    ...providers.map((member) => ofVendor(world, member)),
    ...providers
      .filter(({ elsewhere }) => elsewhere !== undefined)
      .flatMap((member) => USUAL_PORTS.map(([port]) => onPort(world, member, port))),
  ];
  const found = [...(await Promise.all(looks)).flat(), ...readyServers(world.env).map((one) => ofService(world, one))];
  // A variable may name what also listens on a usual port.
  const places = found.map(({ address }) => address && placeOf(address.url));
  return found.filter((_one, at) => places[at] === null || places.indexOf(places[at] ?? null) === at);
}

const placeOf = (url: string): string => new URL(url).host.replace('localhost', '127.0.0.1');

/** A service of the table, as a server to choose. */
export function ofService({ env }: World, service: KnownServer): FoundServer {
  const member = providers.find(({ elsewhere }) => elsewhere !== undefined);
  const url = service.address(env);
  if (member === undefined || url === null) throw new Error(`${service.title} has no address.`);
  return { member, address: { url, isStored: false }, isThird: true, why: `key in ${service.keyVariable}`, service };
}

/** The running servers that are found beside the chosen one and are not in the file yet, as entries of `servers`. */
export function keptServers(
  found: readonly FoundServer[],
  chosen: FoundServer | undefined,
  { servers = {}, api_base }: Pick<ConfigFile, 'servers' | 'api_base'>,
): Readonly<Record<string, NamedServer>> {
  const addresses = [api_base, ...Object.values(servers).map((one) => one.api_base)];
  const taken = addresses.flatMap((address) => (address ? [placeOf(address)] : []));
  const kept = found.flatMap((one): (readonly [string, NamedServer])[] => {
    const [model] = one.models ?? [];
    const { member, address } = one;
    if (one === chosen || model === undefined || (address !== null && taken.includes(placeOf(address.url)))) return [];
    const entry = one.isThird ? {} : { provider: member.name };
    return [[nameOf(one), { ...entry, ...(address?.isStored && { api_base: address.url }), model }]];
  });
  return Object.fromEntries(kept.filter(([name]) => !Object.hasOwn(servers, name)));
}

/** `vllm` for what alone listens on its port, `local-8080` for others. */
function nameOf({ member, isThird, address }: FoundServer): string {
  const port = isThird && address !== null ? new URL(address.url).port : null;
  if (port === null) return member.name;
  const programs = USUAL_PORTS.find(([usual]) => `${usual}` === port)?.[1] ?? ',';
  return programs.includes(',') ? `local-${port}` : programs.toLowerCase().replaceAll(' ', '-');
}

async function ofVendor(world: World, member: ProviderMember): Promise<readonly FoundServer[]> {
  const base = baseOf(member, world.env);
  const address = base === null ? null : { url: base, isStored: false };
  const variable = keyVariable(world, member);
  // The vendors whose protocol no others speak demand a key everywhere.
  const isElsewhere = member.elsewhere !== undefined && !isOwnAddress(member, base);
  if (variable !== null) return [{ member, address, isThird: false, why: `key in ${variable}` }];
  if (member.keyVariables.length > 0 && !isElsewhere) return [];
  const models = await probeModels(world, member.name, base, PATIENCE);
  if (models === null) return [];
  const named = isElsewhere ? `${member.baseVariable} names it, ` : '';
  return [{ member, address, isThird: isElsewhere, models, why: `${named}${modelsText(models)}` }];
}

async function onPort(world: World, member: ProviderMember, port: number): Promise<readonly FoundServer[]> {
  const url = `http://127.0.0.1:${port}/v1`;
  const models = await probeModels(world, member.name, url, PATIENCE);
  if (models === null) return [];
  return [{ member, address: { url, isStored: true }, isThird: true, models, why: modelsText(models) }];
}

function modelsText(models: readonly string[]): string {
  if (models.length === 1) return `running, model ${models[0]}`;
  return models.length === 0 ? 'running, but it has no model yet' : `running, ${quantity(models.length, 'model')}`;
}

/** A key in this variable is meant for hi alone and wins over the file. */
export const OWN_VARIABLE = 'HI_API_KEY';

/** The variable that holds a key for the vendor, or for the service; null for none. */
export function keyVariable(world: World, member: ProviderMember, service?: KnownServer): string | null {
  if (service !== undefined) return world.env[service.keyVariable]?.trim() ? service.keyVariable : null;
  if (member.keyVariables.length === 0) return null;
  return [OWN_VARIABLE, ...member.keyVariables].find((name) => world.env[name]?.trim()) ?? null;
}
