import { RequestRefusal, UNSAID } from '../common/provider.js';

/** The error of a line in Ollama's stream that is not JSON: a refusal without a reason, for what it is about is not known. */
export function unreadable(line: string): RequestRefusal {
  return new RequestRefusal('malformed', `Ollama sent a line that hi cannot read: '${line.slice(0, 60)}'.`, {
    hint: 'Try again (/retry in hi chat). If it happens every time, check api_base.',
    ...UNSAID,
    retryable: true,
    said: 'an answer that cannot be read',
  });
}
