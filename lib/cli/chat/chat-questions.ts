import type { Elicit } from '../../mcp/base/elicitation.js';
import type { AskAboutInstructions } from '../../memory/instructions.js';
import type { Repl } from '../../repl/repl.js';
import type { SlashContext } from '../../slash/common/command.js';
import type { Approve } from '../../tools/common/tool.js';
import type { World } from '../base/world.js';
import { askForServer } from '../from-servers/ask-for-server.js';
import { askApproval } from '../wiring/approve.js';
import { askAboutInstructions } from '../wiring/ask-about-instructions.js';
import type { SessionOptions } from '../wiring/session-options.js';
import type { ChatTerminal } from './chat-terminal.js';
import { createChoose, createInput, createSearch } from './choose.js';
import { createConfirm } from './confirm.js';

/** How a turn asks the user: about a call, about the instructions of a project, and what an MCP server wants to know. */
export function questionsOfTurn(
  world: World,
  repl: () => Repl,
): Pick<SessionOptions, 'approve' | 'askAboutInstructions' | 'elicit'> {
  return {
    approve: approveIn(world, repl),
    askAboutInstructions: askAboutInstructionsIn(repl),
    elicit: elicitIn(repl),
  };
}

/** How slash commands ask the user. */
export function questionsOfCommands(
  repl: () => Repl,
  terminal: ChatTerminal,
  yes: boolean,
): Pick<SlashContext, 'confirm' | 'choose' | 'search' | 'input'> {
  return {
    confirm: createConfirm({ repl, terminal, yes }),
    choose: createChoose(repl, terminal),
    search: createSearch(repl, terminal),
    input: createInput(repl, terminal),
  };
}

function approveIn(world: World, repl: () => Repl): Approve {
  return (question, signal) =>
    repl().ask((streams) =>
      askApproval(question, { ...streams, signal: AbortSignal.any([signal, streams.signal]) }, world.env),
    );
}

function askAboutInstructionsIn(repl: () => Repl): AskAboutInstructions {
  return (files, signal) =>
    repl().ask(async (streams) => {
      return await askAboutInstructions(files, { ...streams, signal: AbortSignal.any([signal, streams.signal]) });
    });
}

function elicitIn(repl: () => Repl): Elicit {
  return (server, question, signal) =>
    repl().ask(async (streams) => {
      const either = AbortSignal.any([signal, streams.signal]);
      return await askForServer(server, question, { ...streams, signal: either });
    });
}
