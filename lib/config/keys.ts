import { WRAP_MODES, type WrapMode } from '../chat/event.js';
import { COUNT, type JsonObject, TEXT } from '../chat/json.js';
import { THINKING_LEVELS, type ThinkingLevel, type WebMode } from '../chat/model.js';
import { DEFAULT_TRIGGER_RATIO } from '../chat/request.js';
import { DURATION } from '../chat/text.js';
import { SERVERS_RANGE, type ServersFile } from './server-settings.js';
import {
  DEFAULT_WINDOW,
  found,
  GRANTS,
  type NamedServer,
  objectSchema,
  oneOf,
  type RuleSetting,
  rules,
  SHARE,
  type SmallModelFile,
  section,
  setting,
} from './setting.js';

/** The names of providers and strategies, for the schema. */
export interface MemberNames {
  readonly providers: readonly string[];
  readonly strategies: readonly string[];
  /** The keys that `options` may have, by provider. */
  readonly options: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
}

const api_key = found<string | null>(
  { type: ['string', 'null'], minLength: 1 },
  'The key. `"!command"` runs a command and takes the first line it prints, so that a password manager can hold the key.',
  'environment',
);

const api_base = found<string | null>(
  { type: ['string', 'null'], pattern: '^https?://' },
  'An address other than the vendor’s own: a compatible server, a gateway, your own server on another machine.',
  "the vendor's",
);

const headers = found<Readonly<Record<string, string>>>(
  {
    type: 'object',
    propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
    additionalProperties: { type: 'string', pattern: '^[\\t -~]*$' },
  },
  'Headers to send with every request to the provider, as some gateways require. Their values are never shown.',
  'none',
);

const openai = section('For OpenAI and servers that are compatible with it.', {
  api: oneOf(
    ['auto', 'responses', 'chat'],
    'auto',
    '`"responses"` or `"chat"`. `"auto"`: Responses for OpenAI itself, Chat Completions with an `api_base`.',
  ),
});

/**
 * The keys of `config.json`. A key is defined only here: its type, its default, the schema and the tables of the manual
 * (`npm run docs`) are derived from this.
 */
export function configKeys({ providers, strategies, options }: MemberNames) {
  const model = found<string>(TEXT, 'The name of the model.', 'per provider');
  const context_window = found<number>(
    { type: 'integer', minimum: 1024 },
    `The context window in tokens, of which all shares are computed. If you set it, the whole conversation is in view below the trigger, whatever the pause.`,
    `the model's, at most ${DEFAULT_WINDOW}`,
  );
  const reach = { provider: found<string>({ enum: [...providers] }, 'The provider of the model.', 'as above') };
  return {
    $schema: found<string>({ type: 'string' }, 'The location of this schema, for editors.', 'none'),
    provider: found<string>(
      { enum: [...providers] },
      `The provider of the models: ${providers.map((name) => `\`${name}\``).join(', ')}.`,
      'detected',
    ),
    model,
    api_key,
    api_key_expires: setting<number | null>(
      { type: ['integer', 'null'], minimum: 1 },
      null,
      'After how many seconds a command that prints the key runs again. It also runs again when the key is refused.',
      'none',
    ),
    api_base,
    require_tls: setting(
      { type: 'boolean' },
      false,
      '`true` refuses to send a key over plain `http` to another machine, instead of warning.',
    ),
    preamble: setting<string | null>({ type: ['string', 'null'] }, null, 'The system prompt.', 'none'),
    context_window,
    max_input_tokens: setting<number | null>(
      { type: ['integer', 'null'], minimum: 256 },
      null,
      'Compact at this many tokens, instead of by `compaction.trigger_ratio`.',
      'none',
    ),
    small_model: found<SmallModelFile | string | null>(
      {
        ...objectSchema('', { ...reach, model, api_key, api_base, context_window }, ['model']),
        type: ['object', 'string', 'null'],
      },
      'The fast model for summaries and skills: `"SERVER/MODEL"` as after `-m`, or `model`, and `provider`, `api_key`, `api_base`, `context_window` where they differ.',
      "the vendor's, at its own address and where a gateway lists it; else the main model",
    ),
    thinking: oneOf<ThinkingLevel | null>(
      [...THINKING_LEVELS, null],
      null,
      'How hard the model thinks: `off`, `low`, `medium`, `high`, `xhigh`, `max`.',
      "the vendor's",
    ),
    options: found<JsonObject>(
      { type: 'object', properties: optionsOfAny(options) },
      'Other options of the provider, under its own names: `temperature`, `max_output_tokens`, `top_p`, `service_tier` and others. Not used for summaries.',
      'none',
    ),
    headers,
    web: oneOf<WebMode>(
      ['off', 'on', 'auto'],
      'off',
      'Whether the model may search the web. `"auto"`: if its vendor has a search that costs nothing unless it is used.',
    ),
    project_instructions: oneOf<'ask' | 'on' | 'off'>(
      ['ask', 'on', 'off'],
      'ask',
      'Whether the model reads `AGENTS.md` (or else `CLAUDE.md`) in the folders from the working folder up to the root of the repository. `"ask"`: ask once, and again when they change; without a terminal they are not used.',
    ),
    servers: found<Readonly<Record<string, NamedServer>>>(
      serversRange({ ...reach, model, api_key, api_base, context_window, headers, openai }, options),
      'Servers by name, each with `provider`, `model`, `api_key`, `api_base`, `context_window`, `options`, `headers` and `openai` of its own: `-m NAME` or `-m NAME/MODEL` asks it. See [several servers](#several-servers).',
      'none',
    ),
    fallback: setting<readonly string[]>(
      { type: 'array', items: TEXT },
      [],
      'Which servers answer, in this order, when the first does not: names from `servers`, `"NAME/MODEL"`, or `"provider/model"`. See [when a server fails](#when-a-server-fails).',
    ),
    limit: section(
      'What may be spent, in US dollars, and in tokens with models whose price is unknown. See [limits](#limits).',
      {
        turn: most('dollars of one turn'),
        day: most('dollars of a day'),
        month: most('dollars of a month'),
        turn_tokens: most('tokens of one turn'),
        day_tokens: most('tokens of a day'),
        month_tokens: most('tokens of a month'),
      },
    ),
    ...SCREEN_KEYS,
    compaction: section(
      'When and how the conversation is compacted.',
      {
        strategy: setting<string>(
          { enum: [...strategies] },
          'summary',
          `How the conversation is compacted: ${strategies.map((name) => `\`"${name}"\``).join(', ')}.`,
        ),
        trigger_ratio: setting(
          SHARE,
          DEFAULT_TRIGGER_RATIO,
          'The share of the window at which the conversation is compacted.',
        ),
        keep_recent: setting(COUNT, 6, 'How many of the newest messages stay word for word.'),
        keep_ratio: setting(SHARE, 0.5, 'The share of the messages that truncation keeps.'),
        target_ratio: setting(SHARE, 0.5, 'The largest share of the original that a summary should have.'),
        fallback_keep: setting(COUNT, 10, 'How many messages are sent after a summary has failed.'),
        timeout_ms: setting(
          COUNT,
          120_000,
          'The time limit of a summary, in milliseconds. The default for a nearby server is four hours.',
        ),
        idle_timeout_ms: setting(
          COUNT,
          30_000,
          'How long a summary may send nothing, in milliseconds. The default for a nearby server is 15 minutes.',
        ),
        archive: oneOf(['keep', 'discard'], 'keep', '`"discard"` removes the originals once their summary is on disk.'),
        block_role: oneOf(
          ['system', 'user'],
          'system',
          '`"user"` sends the summary as a user message, for models that ignore a system message in the middle of a conversation.',
        ),
        background: setting(
          { type: 'boolean' },
          true,
          'Whether summaries are written in the background: ahead of time while you read and type, and of what left the view.',
        ),
      },
      'compaction',
    ),
    view: section(
      'How much of the conversation is in view after a pause.',
      {
        rest: setting<string | null>(
          { type: ['string', 'null'], pattern: `^(?:off|${DURATION})$` },
          null,
          'The pause after which older messages leave the view, such as `"1h"`. `"off"`: never.',
          '`"1h"`, or `"off"` if you set `context_window`',
        ),
        limit: setting(COUNT, 7000, 'After that pause they leave if summary and messages have more tokens.'),
        cool_limit: setting(
          COUNT,
          24_000,
          'After a shorter pause, in which the vendor has forgotten the prompt, they leave if summary and messages have more tokens.',
        ),
        keep: setting(COUNT, 3000, 'How many tokens of the newest messages stay, and at least the last exchange.'),
        block: setting(COUNT, 1400, 'The maximum number of tokens of the summary that is then sent.'),
        head: setting(
          COUNT,
          4000,
          'The maximum number of tokens of skills and of definitions of MCP tools, half for each, before only those needed are sent.',
        ),
      },
      'compaction',
    ),
    skills: section(
      'Which skills are sent.',
      {
        mode: oneOf(
          ['auto', 'all', 'matched'],
          'auto',
          '`"all"`: every skill. `"matched"`: those that match the conversation. `"auto"`: all if they fit into `budget_ratio` of the window, and half of `view.head` unless you set `context_window`, else those that match.',
        ),
        matcher: oneOf(
          ['lexical', 'llm'],
          'lexical',
          '`"lexical"` compares words. `"llm"` asks the small model, for at most 5 s; if that fails, words are compared.',
        ),
        top_k: setting(COUNT, 3, 'The maximum number of skills that one message loads.'),
        evict_after: setting(COUNT, 3, 'A skill is dropped after this many messages without a match.'),
        budget_ratio: setting(SHARE, 0.15, 'The share of the window that skills may take.'),
        large_tokens: setting(COUNT, 1000, 'A skill with more tokens is compressed when the window is nearly full.'),
      },
      'skills',
    ),
    tools: section(
      'What the model may do.',
      {
        enabled: setting({ type: 'boolean' }, true, 'Whether the model may use tools at all.'),
        max_rounds: setting(COUNT, 50, 'The maximum number of requests in one turn.'),
        timeout_ms: setting(COUNT, 120_000, 'The time limit of one call, in milliseconds.'),
        output_limit: setting(
          { type: 'integer', minimum: 200 },
          30_000,
          'The maximum number of characters of a call’s output that the model gets.',
        ),
        env: setting<readonly string[]>(
          { type: 'array', items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } },
          [],
          'The names of environment variables that are passed to commands in addition to the usual ones, such as `PATH`, `HOME` and `LANG`.',
        ),
        sandbox: oneOf(
          [false, true, 'network'],
          false,
          '`true` runs commands in a sandbox or not at all; `"network"` does the same but allows network access.',
        ),
        permissions: section(
          'Three lists of rules, `allow`, `ask` and `deny`: `tool`, `tool(exact text)` or `tool(prefix:*)`, or an object with `rule`, `folder`, and in `allow` `write`, `network` and `read`. Deny beats ask, ask beats allow.',
          {
            allow: setting<readonly RuleSetting[]>(rules(GRANTS), [], 'Calls that run without asking.'),
            ask: setting<readonly RuleSetting[]>(rules({}), [], 'Calls that need your approval.'),
            deny: setting<readonly RuleSetting[]>(rules({}), [], 'Calls that never run.'),
          },
        ),
      },
      'tools-and-safety',
    ),
    mcpServers: found<ServersFile>(
      SERVERS_RANGE,
      'MCP servers, by name, in the form that their READMEs show: `command`, `args`, `env`, `cwd`; or `url`, `headers`. See [MCP servers](mcp.md).',
      'none',
    ),
    clock: setting(
      { type: 'boolean' },
      true,
      'Whether the model is told the time, the folder and the machine when they have changed since the last message.',
    ),
    recall: section(
      'Automatic recall of earlier messages.',
      {
        auto: setting(
          { type: 'boolean' },
          true,
          'Whether earlier messages on the same subject are recalled automatically.',
        ),
        tokens: setting(
          { type: 'integer', minimum: 200 },
          3000,
          'The maximum number of tokens to recall for one message. In windows below 32,000 tokens it is less: at half of that a quarter.',
        ),
      },
      'recall',
    ),
    share: section('The folder that your machines share, which `hi share` sets.', {
      folder: setting<string | null>(
        { type: ['string', 'null'], minLength: 1 },
        null,
        'The folder that a syncer keeps alike on all machines. `~` is your home folder.',
        'none',
      ),
      name: setting<string | null>(
        { type: ['string', 'null'], minLength: 1, maxLength: 64 },
        null,
        'Your name for this machine.',
        'its host name',
      ),
      key: setting<string | null>(
        { type: ['string', 'null'], pattern: '^!' },
        null,
        '`"!command"` prints the key, so that a password manager can hold it. `HI_SHARE_KEY` goes before it.',
        'the file `share.key`',
      ),
    }),
    images: section('Images that models generate.', {
      folder: setting<string>(
        TEXT,
        '~/Pictures/hi',
        'The folder in which generated images are saved. `~` is your home folder; a relative path, such as `"."`, starts at the working folder.',
      ),
    }),
    input: section('The line editor.', {
      long_paste: setting(COUNT, 200, 'A longer paste, in characters, is shown as `[LongText#1]`.'),
    }),
    openai,
  };
}

/** A limit of what is spent. */
const most = (what: string) =>
  setting<number | null>({ type: ['number', 'null'], exclusiveMinimum: 0 }, null, `The most ${what}.`, 'none');

/** Servers by name. A name is typed before a slash. */
function serversRange(keys: object, options: MemberNames['options']): JsonObject {
  const { properties } = objectSchema('', keys);
  const known = { type: 'object', properties: optionsOfAny(options), additionalProperties: false };
  return {
    type: 'object',
    propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' },
    additionalProperties: {
      type: 'object',
      properties: { ...Object(properties), options: known },
      additionalProperties: false,
    },
  };
}

/** The keys that `options` may have for any provider. */
export function optionsOfAny(options: MemberNames['options']): JsonObject {
  return Object.fromEntries(Object.values(options).flatMap((table) => Object.entries(table)));
}

/** The keys of `config.json` about display, sound and typing. */
const SCREEN_KEYS = {
  wrap: oneOf<WrapMode>(
    WRAP_MODES,
    'word',
    'How answers are wrapped. `"word"`: between words, with tables aligned. `"terminal"`: by the terminal, with the text as it came.',
  ),
  theme: oneOf<'auto' | 'dark' | 'light' | 'mono' | 'terminal'>(
    ['auto', 'dark', 'light', 'mono', 'terminal'],
    'auto',
    'The colours of answers: for a dark or a light background, `"mono"` for bold and dim only, `"terminal"` for the terminal’s own 16 colours. `"auto"` asks the terminal for its background.',
  ),
  animation: setting(
    { type: 'boolean' },
    true,
    '`false` stops the animation of the status line; only its time changes.',
  ),
  screen_reader: setting(
    { type: 'boolean' },
    false,
    '`true` never redraws anything, for screen readers: no status line, no aligned tables, nothing that moves below an answer. Questions are still asked.',
  ),
  notify: oneOf<'auto' | 'bell' | 'off'>(
    ['auto', 'bell', 'off'],
    'auto',
    'How the chat alerts you, while the terminal is not in focus, to an answer or a question that took more than 10 s. `"bell"`, or `"auto"`: a notification (OSC 9) if the terminal supports it, else the bell.',
  ),
  title: setting({ type: 'boolean' }, true, 'Whether the chat sets the title of the window while it runs.'),
  show_usage: setting(
    { type: 'boolean' },
    false,
    'Whether the chat shows the tokens and cost of each answer, as `-u` does.',
  ),
  keys: oneOf<'emacs' | 'vi'>(
    ['emacs', 'vi'],
    'emacs',
    'The key bindings of the chat’s line editor: `"emacs"`, as in a shell, or `"vi"`.',
  ),
};
