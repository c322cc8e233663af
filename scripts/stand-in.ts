// A server that answers like a vendor, from a script, for the demonstration and the recorded tour.
import { LLMock } from '@copilotkit/aimock';

/** The model for summaries in the demonstration's configuration. */
export const SMALL_MODEL = 'stand-in-small';

const PACE = { streamingProfile: { ttft: 150, tps: 60, jitter: 0.2 } };

const STORY = `${'Once upon a time a shell waited for a word, and the word came, and the shell remembered it. '.repeat(60)}\n\nThe end.`;

const SUMMARY = `## User and preferences
- The user is looking at the demonstration of hi.
## Closed requests
- Stories were told; files were listed or written when asked.
## Current state
- Waiting for the next question.`;

const REPLY = `I am a **scripted stand-in**, not a model: I only know a few answers.

- \`hello\`
- \`list the files\` (uses a tool)
- \`write a haiku\` (asks before it writes)
- \`tell me a long story\` (fills the window; the second one is compacted)

With a real model behind it, \`hi\` works the same.`;

/** An example of everything that an answer may contain. */
const SHOWCASE = `## A server in four lines

It answers *every* request with **one word**, as [the manual](https://nodejs.org/api/http.html) shows:

\`\`\`js
import { createServer } from 'node:http';
// Port 8080, on this machine only.
createServer((_, response) => response.end('hello')).listen(8080, 'localhost');
\`\`\`

1. Save it as \`server.mjs\`.
2. Run \`node server.mjs\` and open the page.

| header | value |
|---|---:|
| status | 200 |
| content-length | 5 |`;

/** A running server: its address, and how to stop it. */
export interface StandIn {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the server on a free port of this machine. */
export async function startStandIn(): Promise<StandIn> {
  const server = await LLMock.create({ port: 0 });
  const call = (name: string, args: object) => [
    { id: `call_${name}_${Date.now()}`, name, arguments: JSON.stringify(args) },
  ];
  server.on({ model: SMALL_MODEL }, { content: SUMMARY }, PACE);
  server.on(
    { userMessage: /^hello/i },
    { content: 'Hello! I am a *scripted* stand-in on your own machine. Try `list the files`.' },
    PACE,
  );
  server.on(
    { userMessage: /list the files/i, hasToolResult: true },
    { content: 'There is one file here: `notes.txt`. Everything above the answer was the real tool at work.' },
    PACE,
  );
  server.on(
    { userMessage: /list the files/i },
    () => ({ content: 'Let me look.', toolCalls: call('list_files', { path: '.' }) }),
    PACE,
  );
  server.on(
    { userMessage: /haiku[.!]?\s*$/i, hasToolResult: true },
    { content: 'That is all I wanted to do. `!cat haiku.txt` shows it, if you allowed it.' },
    PACE,
  );
  server.on(
    { userMessage: /haiku[.!]?\s*$/i },
    () => ({
      content: 'I would like to write it to a file.',
      toolCalls: call('write_file', {
        path: 'haiku.txt',
        content: 'The shell keeps my words\nacross the night and the years\nand says: hi, again\n',
      }),
    }),
    PACE,
  );
  server.on({ userMessage: /smallest server/i }, { content: SHOWCASE }, PACE);
  server.on(
    { userMessage: /long story/i },
    { content: STORY },
    { streamingProfile: { ttft: 150, tps: 900, jitter: 0.1 } },
  );
  server.on({ userMessage: /[\s\S]*/ }, { content: REPLY }, PACE);
  return { url: server.url, stop: () => server.stop() };
}
