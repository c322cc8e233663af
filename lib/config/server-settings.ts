import type { JsonObject } from '../chat/json.js';

/** An MCP server in `mcpServers`: the form that the READMEs of servers show, with hi's additions. */
export interface ServerFile {
  readonly type?: 'stdio' | 'http' | 'sse' | 'streamable-http' | 'streamableHttp';
  /** The program to run. */
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The address, instead of a program. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How hi logs in, for a server where it is already registered or needs certain scopes. */
  readonly oauth?: OAuthFile;
  /** The tools that the model gets: only these, or all except these. */
  readonly tools?: { readonly only?: readonly string[]; readonly not?: readonly string[] };
  /** Whether the program runs in a sandbox, where it cannot change files or read private ones. */
  readonly sandbox?: boolean;
  /** Files and folders outside of the working folder that it may read in the sandbox. */
  readonly read?: readonly string[];
  readonly timeout_ms?: number;
  readonly start_timeout_ms?: number;
  readonly enabled?: boolean;
  readonly disabled?: boolean;
}

/** hi's registration with an authorization server. */
export interface OAuthFile {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The authorization server that knows the client. */
  readonly issuer?: string;
  /** The port of the registered redirect address. */
  readonly callbackPort?: number;
  readonly scopes?: string | readonly string[];
}

/** All servers, by name. */
export type ServersFile = Readonly<Record<string, ServerFile>>;

const TEXTS = { type: 'array', items: { type: 'string' } };
const TEXTS_BY_NAME = { type: 'object', additionalProperties: { type: 'string' } };
const MILLISECONDS = { type: 'integer', minimum: 1 };

/** Keys of other programs, which often come with a pasted block. hi ignores them. */
const IGNORED_KEYS = ['description', 'autoApprove', 'alwaysAllow', 'timeout', 'trust', 'transportType'];

/** The JSON Schema of `mcpServers`. */
export const SERVERS_RANGE: JsonObject = {
  type: 'object',
  propertyNames: { minLength: 1, maxLength: 64 },
  additionalProperties: {
    type: 'object',
    properties: {
      type: { enum: ['stdio', 'http', 'sse', 'streamable-http', 'streamableHttp'] },
      command: { type: 'string', minLength: 1 },
      args: TEXTS,
      env: TEXTS_BY_NAME,
      cwd: { type: 'string', minLength: 1 },
      url: { type: 'string', minLength: 1 },
      headers: TEXTS_BY_NAME,
      oauth: {
        type: 'object',
        properties: {
          clientId: { type: 'string', minLength: 1 },
          clientSecret: { type: 'string', minLength: 1 },
          issuer: { type: 'string', minLength: 1 },
          callbackPort: { type: 'integer', minimum: 1, maximum: 65_535 },
          scopes: { anyOf: [{ type: 'string' }, TEXTS] },
        },
        additionalProperties: false,
      },
      tools: {
        type: 'object',
        properties: { only: TEXTS, not: TEXTS },
        additionalProperties: false,
      },
      sandbox: { type: 'boolean' },
      read: TEXTS,
      timeout_ms: MILLISECONDS,
      start_timeout_ms: MILLISECONDS,
      enabled: { type: 'boolean' },
      disabled: { type: 'boolean' },
      ...Object.fromEntries(IGNORED_KEYS.map((name) => [name, {}])),
    },
    additionalProperties: false,
  },
};
