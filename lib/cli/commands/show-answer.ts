import type { ChatEvent } from '../../chat/event.js';
import { toJson } from '../../chat/json.js';
import { EXIT_STATUS } from '../../errors.js';
import type { Screen } from '../../screen/screen.js';
import { neutraliseJson } from '../../screen/text/neutralise.js';
import { type ChatOptions, formatOf, type OutputFormat } from '../base/command-options.js';
import type { World } from '../base/world.js';

/** Shows the events of a turn in the chosen format. Resolves to the exit status. */
export async function showAnswer(
  world: World,
  screen: Screen,
  options: ChatOptions,
  notices: readonly string[],
  events: AsyncIterable<ChatEvent>,
): Promise<number> {
  const format = formatOf(options);
  let status = 0;
  // An answer in JSON is shown once it is whole and fits.
  const hidden = format === 'text' && !isStructured(options) ? null : 'text';
  async function* watched(): AsyncGenerator<ChatEvent> {
    for await (const event of options.stream ? events : inOnePiece(events)) {
      if (event.type !== 'print' && (format === 'stream-json' || (format === 'json' && event.type === 'turn-end')))
        await printJson(world, event, format);
      if (event.type === 'turn-end' && event.stop_reason === 'interrupted') status = EXIT_STATUS.interrupted;
      if (event.type !== hidden && (format === 'text' || event.type !== 'print')) yield event;
    }
  }
  try {
    for (const notice of notices) screen.notice(notice, 'warning');
    await screen.follow(watched());
  } finally {
    screen.close();
    await screen.flush();
  }
  return status;
}

/** The same events, the answer in one piece. */
async function* inOnePiece(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent> {
  let text = '';
  for await (const event of events) {
    if (event.type === 'text') {
      text += event.text;
      continue;
    }
    if (text !== '') yield { type: 'text', text };
    text = '';
    yield event;
  }
}

async function printJson({ stdout }: World, event: ChatEvent, format: OutputFormat): Promise<void> {
  const { type, ...report } = event;
  const line = format === 'json' ? report : { type: type === 'turn-end' ? 'result' : type, ...report };
  // Waits for a slow reader and ignores a closed pipe.
  await new Promise<void>((resolve) => void stdout.write(`${neutraliseJson(toJson(line))}\n`, () => resolve()));
}

const isStructured = ({ schema, schemaMulti }: ChatOptions): boolean => (schema ?? schemaMulti) !== undefined;
