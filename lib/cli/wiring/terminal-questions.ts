import { isAbort } from '../../errors.js';
import type { Elicit } from '../../mcp/base/elicitation.js';
import type { AskAboutInstructions } from '../../memory/instructions.js';
import type { Screen } from '../../screen/screen.js';
import type { Approve } from '../../tools/common/tool.js';
import type { ApprovalStreams } from '../approval/show-and-ask.js';
import type { World } from '../base/world.js';
import { askForServer } from '../from-servers/ask-for-server.js';
import { withBracketedPaste } from '../terminal/bracketed-paste.js';
import { discardTypeAhead } from '../terminal/type-ahead.js';
import { askApproval } from './approve.js';
import { askAboutInstructions } from './ask-about-instructions.js';

/** Asks on the terminal while nothing else is drawn. Cancelling the question stops the turn, as Ctrl-C does at any other time. */
export function approver(world: World, screen: Screen, stop: AbortController): Approve {
  return (question, signal) =>
    onTerminal(world, screen, stop, signal, (streams) => askApproval(question, streams, world.env));
}

/** Asks about the instructions of a project in the same way. */
export function instructionsAsker(world: World, screen: Screen, stop: AbortController): AskAboutInstructions {
  return (files, signal) => onTerminal(world, screen, stop, signal, (streams) => askAboutInstructions(files, streams));
}

/** Asks what an MCP server wants to know in the same way, except that cancelling is an answer to the server. */
export function serverAsker(world: World, screen: Screen, stop: AbortController): Elicit {
  return (server, question, signal) =>
    onTerminal(world, screen, stop, signal, (streams) => askForServer(server, question, streams));
}

async function onTerminal<Answer>(
  world: World,
  screen: Screen,
  stop: AbortController,
  signal: AbortSignal,
  ask: (streams: ApprovalStreams) => Promise<Answer>,
): Promise<Answer> {
  const resume = screen.pause();
  try {
    const ready = async (): Promise<void> => {
      if (await discardTypeAhead(world.stdin, signal))
        screen.notice('Ignored what was typed before the question.', 'info');
    };
    const streams = { input: world.stdin, output: world.stderr, signal, ready };
    return await withBracketedPaste(world.stderr, () => ask(streams));
  } catch (thrown) {
    if (isAbort(thrown)) stop.abort();
    throw thrown;
  } finally {
    world.stdin.pause();
    world.stdin.setRawMode?.(false);
    resume();
  }
}
