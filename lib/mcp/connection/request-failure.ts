import { ProtocolError, SdkHttpError } from '@modelcontextprotocol/client';
import { isJsonObject, parseObject } from '../../chat/json.js';
import { ErrorResponse, SessionExpired } from './client.js';

/** How much of an invalid answer is quoted. */
const LONGEST_QUOTE = 300;

/** Codes that servers choose for an unknown session instead of answering with 404. */
const OF_SERVERS: readonly unknown[] = [-32000, -32001];

/** What a failed request means, in the terms of a `Client`. */
export function requestFailure(thrown: unknown, hasSession: boolean): unknown {
  if (ProtocolError.isInstance(thrown)) return refusal(thrown.code, thrown.message, hasSession);
  if (!SdkHttpError.isInstance(thrown) || thrown.status < 400) return thrown;
  const { status, data } = thrown;
  const text = typeof data.text === 'string' ? data.text.trim() : '';
  // The protocol then requires a new session; the request was not processed.
  if (status === 404 && hasSession) return new SessionExpired('It no longer knows the session.');
  const error = parseObject(text)?.error;
  if (isJsonObject(error) && typeof error.message === 'string') return refusal(error.code, error.message, hasSession);
  return new Error(`It answered with HTTP ${status}${text === '' ? '.' : `: ${text.slice(0, LONGEST_QUOTE)}`}`);
}

function refusal(code: unknown, message: string, hasSession: boolean): Error {
  if (hasSession && OF_SERVERS.includes(code) && /\bsession\b/i.test(message)) return new SessionExpired(message);
  return new ErrorResponse(message);
}
