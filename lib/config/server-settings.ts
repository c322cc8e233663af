import type { JsonObject } from '../chat/json.js';

/** A server of the Model Context Protocol as `mcpServers` has it: the form that the README of every server shows, and what hi adds to it. */
export interface ServerFile {
  readonly type?: 'stdio' | 'http' | 'sse' | 'streamable-http' | 'streamableHttp';
  /** The program that is run, with its arguments. */
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The address, in place of a program. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How hi logs in there, where it is registered already or must ask for certain rights. */
  readonly oauth?: OAuthFile;
  /** The tools that the model gets: only these, or all but these. */
  readonly tools?: { readonly only?: readonly string[]; readonly not?: readonly string[] };
  /** Whether the program is shut in: it changes no files, and does not see the private ones. */
  readonly sandbox?: boolean;
  readonly timeout_ms?: number;
  readonly start_timeout_ms?: number;
  readonly enabled?: boolean;
  readonly disabled?: boolean;
}

/** hi as it is registered with an authorization server. */
export interface OAuthFile {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The authorization server that knows the client. */
  readonly issuer?: string;
  /** The port of the address that the browser is sent back to, where that was registered. */
  readonly callbackPort?: number;
  readonly scopes?: string | readonly string[];
}

/** All servers, by name. */
export type ServersFile = Readonly<Record<string, ServerFile>>;

const TEXTS = { type: 'array', items: { type: 'string' } };
const TEXTS_BY_NAME = { type: 'object', additionalProperties: { type: 'string' } };
const MILLISECONDS = { type: 'integer', minimum: 1 };

/** Keys of other programs, which come with blocks that are pasted. hi does without. */
const OF_OTHERS = ['description', 'autoApprove', 'alwaysAllow', 'timeout', 'trust', 'transportType'];

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
      timeout_ms: MILLISECONDS,
      start_timeout_ms: MILLISECONDS,
      enabled: { type: 'boolean' },
      disabled: { type: 'boolean' },
      ...Object.fromEntries(OF_OTHERS.map((name) => [name, {}])),
    },
    additionalProperties: false,
  },
};
