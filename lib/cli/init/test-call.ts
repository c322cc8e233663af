import { textOf } from '../../chat/message.js';
import { type ModelFacts, type ModelMemory, mergeFacts } from '../../chat/model/model-facts.js';
import type { ChatRequest } from '../../chat/request.js';
import { asHiError, type HiError } from '../../errors.js';

import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import type { PartialAnswer } from '../../session/turn/partial-answer.js';
import { requestAnswer } from '../../session/turn/request-answer.js';
import { SPECS } from '../../tools/tool-specs.js';
import { TEST_HINT, TEST_LIMIT, withTimeout } from '../base/with-timeout.js';
import type { Prompts } from '../terminal/prompts.js';
import { printError } from './choose-settings.js';

/** How long a server may take to report a model's capabilities. Milliseconds. */
const TIME_LIMIT = 3000;

/** The window assumed for the call if the server does not report the model's. */
const USUAL = 8192;

/**
 * Makes one small call, with tools as in a turn, to check that key, address and model work together. Prints the result, and what the server reports about
 * the model. Resolves to the error, or null.
 */
export async function testCall(
  member: ProviderMember,
  settings: ProviderSettings,
  model: string,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<HiError | null> {
  prompts.say(`Testing ${model} …`);
  const memory = memoryOf(await askFacts(member, settings, model, signal));
  const answer: PartialAnswer = { parts: [], end: null };
  const ask = async (limited: AbortSignal): Promise<void> => {
    const request = requestOf(model, memory.facts);
    for await (const event of requestAnswer(await member.create(settings), request, answer, memory, limited)) {
      if (event.type === 'notice') prompts.say(event.text);
    }
  };
  try {
    await withTimeout(TEST_LIMIT, signal, ask, TEST_HINT);
    const text = textOf(answer.parts).trim();
    prompts.say(text === '' ? 'It answered without text.' : `It answered: ${text.slice(0, 80)}`);
    sayFacts(memory.facts, prompts);
    return null;
  } catch (thrown) {
    signal.throwIfAborted();
    const error = asHiError(thrown);
    printError(error, prompts);
    return error;
  }
}

/** Nothing if the server does not say. */
async function askFacts(
  member: ProviderMember,
  settings: ProviderSettings,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT)]);
    return await member.askFacts(settings, { model, known: {} }, limited);
  } catch {
    signal.throwIfAborted();
    return {};
  }
}

/** A memory for the set-up alone: nothing is written before it is finished. */
function memoryOf(known: ModelFacts): ModelMemory {
  let facts = known;
  return {
    get facts() {
      return facts;
    },
    learn(more) {
      facts = mergeFacts(facts, more);
    },
  };
}

function requestOf(model: string, { context_window = USUAL, takes }: ModelFacts): ChatRequest {
  return {
    model,
    system: ['You answer in one word.'],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }],
    tools: takes?.tools === false ? [] : SPECS,
    thinking: null,
    context_window,
    estimated_tokens: 700,
    max_output_tokens: 256,
    attachments: new Map(),
  };
}

function sayFacts({ context_window, takes }: ModelFacts, prompts: Prompts): void {
  if (context_window !== undefined) prompts.say(`Its context window has ${context_window} tokens.`);
  if (takes?.tools === false) prompts.say('It does not support tools: it answers without them.');
}
