import { RequestRefusal, UNSAID } from '../common/provider.js';

/** The error for a line in Ollama's stream that is not JSON. It counts as a refusal without a reason. */
export function unreadableLine(line: string): RequestRefusal {
  return new RequestRefusal('malformed', `Ollama sent a line that hi cannot read: '${line.slice(0, 60)}'.`, {
    hint: 'Try again (/retry in hi chat). If it happens every time, check api_base.',
    ...UNSAID,
    retryable: true,
    said: 'an answer that cannot be read',
  });
}
