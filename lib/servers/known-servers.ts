import type { NamedServer } from '../config/setting.js';
import { HiError } from '../errors.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A service that hi knows by name: its variable is enough to use it. */
export interface KnownServer {
  /** As it is written before a model: `groq/openai/gpt-oss-120b`. */
  readonly name: string;
  readonly title: string;
  /** The variable that holds its key. */
  readonly keyVariable: string;
  /** Null where it depends on the environment, and nothing there names it. */
  address(env: Environment): string | null;
  /** The usual model; null where the environment does not name one. */
  model(env: Environment): string | null;
  /** The fast model for summaries; null for the main model. */
  readonly fastModel: string | null;
  /** Whether its variable says nothing about the wish to use it, because other programs use that too. */
  readonly onlyIfNamed?: true;
  readonly options?: NamedServer['options'];
  /** Where the vendor documents the address and the errors of its API. */
  readonly docs: string;
}

const at = (address: string) => (): string => address;

/** Every service, in the order in which their variables are looked for. */
export const KNOWN_SERVERS: readonly KnownServer[] = [
  {
    name: 'openrouter',
    title: 'OpenRouter',
    keyVariable: 'OPENROUTER_API_KEY',
    address: at('https://openrouter.ai/api/v1'),
    model: at('~openai/gpt-latest'),
    fastModel: '~openai/gpt-mini-latest',
    docs: 'https://openrouter.ai/docs/api/reference/errors-and-debugging',
  },
  {
    name: 'groq',
    title: 'Groq',
    keyVariable: 'GROQ_API_KEY',
    address: at('https://api.groq.com/openai/v1'),
    model: at('openai/gpt-oss-120b'),
    fastModel: 'openai/gpt-oss-20b',
    docs: 'https://console.groq.com/docs/errors',
  },
  {
    name: 'mistral',
    title: 'Mistral',
    keyVariable: 'MISTRAL_API_KEY',
    address: at('https://api.mistral.ai/v1'),
    model: at('mistral-large-latest'),
    fastModel: 'mistral-small-latest',
    docs: 'https://docs.mistral.ai/resources/error-glossary',
  },
  {
    name: 'deepseek',
    title: 'DeepSeek',
    keyVariable: 'DEEPSEEK_API_KEY',
    address: at('https://api.deepseek.com/v1'),
    model: at('deepseek-v4-pro'),
    fastModel: 'deepseek-v4-flash',
    docs: 'https://api-docs.deepseek.com/quick_start/error_codes',
  },
  {
    name: 'xai',
    title: 'xAI',
    keyVariable: 'XAI_API_KEY',
    address: at('https://api.x.ai/v1'),
    model: at('grok-4.6'),
    fastModel: 'grok-4-1-fast-non-reasoning',
    docs: 'https://docs.x.ai/docs/key-information/debugging',
  },
  {
    name: 'together',
    title: 'Together',
    keyVariable: 'TOGETHER_API_KEY',
    address: at('https://api.together.xyz/v1'),
    model: at('openai/gpt-oss-120b'),
    fastModel: 'openai/gpt-oss-20b',
    docs: 'https://docs.together.ai/docs/error-codes',
  },
  {
    name: 'fireworks',
    title: 'Fireworks',
    keyVariable: 'FIREWORKS_API_KEY',
    address: at('https://api.fireworks.ai/inference/v1'),
    model: at('accounts/fireworks/models/gpt-oss-120b'),
    fastModel: 'accounts/fireworks/models/gpt-oss-20b',
    docs: 'https://docs.fireworks.ai/guides/inference-error-codes',
  },
  {
    name: 'cerebras',
    title: 'Cerebras',
    keyVariable: 'CEREBRAS_API_KEY',
    address: at('https://api.cerebras.ai/v1'),
    model: at('gpt-oss-120b'),
    fastModel: null,
    docs: 'https://inference-docs.cerebras.ai/support/error',
  },
  {
    name: 'github',
    title: 'GitHub Models',
    keyVariable: 'GITHUB_TOKEN',
    address: at('https://models.github.ai/inference'),
    model: at('openai/gpt-4.1'),
    fastModel: 'openai/gpt-4.1-mini',
    onlyIfNamed: true,
    docs: 'https://docs.github.com/en/rest/models/inference',
  },
  {
    name: 'azure',
    title: 'Azure OpenAI',
    keyVariable: 'AZURE_OPENAI_API_KEY',
    address: ({ AZURE_OPENAI_ENDPOINT }) =>
      AZURE_OPENAI_ENDPOINT?.trim() ? `${AZURE_OPENAI_ENDPOINT.trim().replace(/\/$/, '')}/openai/v1` : null,
    model: ({ AZURE_OPENAI_DEPLOYMENT, AZURE_OPENAI_DEPLOYMENT_NAME }) =>
      AZURE_OPENAI_DEPLOYMENT?.trim() || AZURE_OPENAI_DEPLOYMENT_NAME?.trim() || null,
    fastModel: null,
    docs: 'https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle',
  },
];

/** Throws a `HiError` of code `key` for a service at its own address without a key: none of them answers without. */
export function requireServiceKey(server: string | undefined, api_base: string | null, env: Environment): void {
  const known = KNOWN_SERVERS.find(({ name, address }) => name === server && address(env) === api_base);
  if (known === undefined) return;
  throw new HiError('key', `There is no API key for ${known.title}.`, {
    hint: `Set ${known.keyVariable}, or servers.${known.name}.api_key in config.json.`,
  });
}

/** The services whose variables are set, and that are used without being named. */
export const readyServers = (env: Environment): readonly KnownServer[] =>
  KNOWN_SERVERS.filter(
    ({ keyVariable, onlyIfNamed, address, model }) =>
      !onlyIfNamed && env[keyVariable]?.trim() && address(env) !== null && model(env) !== null,
  );
