import { isJsonObject, type JsonObject } from '../chat/json.js';
import { DEFAULTS } from './config.js';

/** The registries' names that the schema lists. */
export interface SchemaNames {
  readonly providers: readonly string[];
  readonly strategies: readonly string[];
}

/** The JSON Schema of `config.json` (SPEC §2), descriptions and defaults included, so that editors can complete it. */
export function configSchema(names: SchemaNames): JsonObject {
  const apiKey = {
    type: ['string', 'null'],
    minLength: 1,
    description:
      'The key, or "!command" to run a command and use its output. Else HI_API_KEY or the vendor’s own variable.',
  };
  const apiBase = {
    type: ['string', 'null'],
    pattern: '^https?://',
    description: 'Another address than the vendor’s own.',
  };
  const window = { type: 'integer', minimum: 1024, description: 'The model’s context window in tokens.' };
  const rules = { type: 'array', items: { type: 'string', minLength: 1 } };
  // The default of context_window is only for models that nobody knows.
  const { context_window, ...defaults } = DEFAULTS;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of hi',
    ...withDefaults(
      defaults,
      section('The settings of hi, a terminal chat.', {
        $schema: { type: 'string', description: 'Where this schema is, for editors.' },
        provider: { enum: [...names.providers], description: 'Whose models to talk to.' },
        model: { type: 'string', minLength: 1, description: 'The model; each provider has a default.' },
        api_key: apiKey,
        api_base: apiBase,
        preamble: { type: ['string', 'null'], description: 'The system prompt; none when absent.' },
        context_window: { ...window, description: `The window in tokens; known per model, else ${context_window}.` },
        max_input_tokens: {
          type: ['integer', 'null'],
          minimum: 256,
          description: 'Compact at this many tokens, whatever compaction.trigger_ratio says.',
        },
        small_model: {
          ...section(
            'The fast model for summaries, skill matching and compression.',
            {
              provider: { enum: [...names.providers] },
              model: { type: 'string', minLength: 1 },
              api_key: apiKey,
              api_base: apiBase,
              context_window: window,
            },
            ['model'],
          ),
          type: ['object', 'null'],
        },
        compaction: section('How a long conversation is made to fit.', {
          strategy: { enum: [...names.strategies] },
          trigger_ratio: share('Share of the window at which a compaction is due.'),
          keep_recent: {
            type: 'integer',
            minimum: 1,
            description: 'Messages a summary leaves word for word.',
          },
          keep_ratio: share('Share of the messages that truncation keeps.'),
          target_ratio: share('The most a summary should have of what it replaces.'),
          fallback_keep: {
            type: 'integer',
            minimum: 1,
            description: 'Messages kept when a summary failed.',
          },
          timeout_ms: { type: 'integer', minimum: 1, description: 'The longest a summary may take.' },
          idle_timeout_ms: { type: 'integer', minimum: 1, description: 'The longest nothing may come.' },
          archive: {
            enum: ['keep', 'discard'],
            description: 'Whether compacted originals stay on disk.',
          },
          block_role: {
            enum: ['system', 'user'],
            description: 'How a summary is sent; "user" for models that ignore a late system text.',
          },
        }),
        skills: section('Which skills go along.', {
          mode: { enum: ['auto', 'all', 'matched'] },
          matcher: { enum: ['lexical', 'llm'] },
          top_k: {
            type: 'integer',
            minimum: 1,
            description: 'How many matching skills are loaded for a message.',
          },
          evict_after: {
            type: 'integer',
            minimum: 1,
            description: 'Messages without a match before a skill goes.',
          },
          budget_ratio: share('Share of the window skills may take.'),
          large_tokens: {
            type: 'integer',
            minimum: 1,
            description: 'Above this size a skill is compressed.',
          },
        }),
        tools: section('What the model may do.', {
          enabled: { type: 'boolean' },
          max_rounds: { type: 'integer', minimum: 1, description: 'Requests one turn may make.' },
          timeout_ms: { type: 'integer', minimum: 1, description: 'The longest one call may run.' },
          output_limit: {
            type: 'integer',
            minimum: 200,
            description: 'Characters of output the model gets.',
          },
          sandbox: {
            enum: [false, true, 'network'],
            description: 'Run commands in a sandbox, or not at all; "network" lets them reach the network.',
          },
          permissions: section('Rules: tool, tool(exact text) or tool(prefix:*); deny beats ask beats allow.', {
            allow: rules,
            ask: rules,
            deny: rules,
          }),
        }),
        input: section('The line editor.', {
          long_paste: {
            type: 'integer',
            minimum: 1,
            description: 'A longer paste is shown as [LongText#1].',
          },
        }),
        openai: section('Only for provider openai.', {
          api: { enum: ['auto', 'responses', 'chat'] },
        }),
        thinking: {
          enum: ['off', 'low', 'medium', 'high', null],
          description: 'How hard the model thinks.',
        },
      }),
    ),
  };
}

/** The same settings, each that has a default with it. */
function withDefaults(defaults: JsonObject, settings: JsonObject): JsonObject {
  const properties = Object.entries(isJsonObject(settings.properties) ? settings.properties : {}).map(
    ([key, setting]) => {
      const value = defaults[key];
      if (value === undefined || !isJsonObject(setting)) return [key, setting];
      return [key, isJsonObject(value) ? withDefaults(value, setting) : { ...setting, default: value }];
    },
  );
  return { ...settings, properties: Object.fromEntries(properties) };
}

function section(description: string, properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', description, properties, required: [...required], additionalProperties: false };
}

function share(description: string): JsonObject {
  return { type: 'number', exclusiveMinimum: 0, maximum: 1, description };
}
