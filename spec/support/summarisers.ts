import type { TextModel, TextPrompt, WrittenText } from '../../lib/chat/request.js';
import { HiError } from '../../lib/errors.js';

/** A model that remembers what it was asked. */
export interface ScriptedModel extends TextModel {
  readonly asked: TextPrompt[];
}

type Answer = (
  prompt: TextPrompt,
  call: number,
) => string | Partial<WrittenText> | Promise<string | Partial<WrittenText>>;

/** A model that answers by a script. Throw in it to fail. */
export function scripted(answer: Answer, { model = 'small', context_window = 100_000 } = {}): ScriptedModel {
  const asked: TextPrompt[] = [];
  return {
    provider: 'scripted',
    model,
    context_window,
    asked,
    async write(prompt, onProgress, signal) {
      signal.throwIfAborted();
      asked.push(prompt);
      const given = await answer(prompt, asked.length);
      const text = typeof given === 'string' ? { text: given } : given;
      onProgress(text.text?.length ?? 0);
      return { text: '', stop_reason: 'end', usage: null, ...text };
    },
  };
}

/** The parts of a prompt: what the summariser may see. */
export function partsOf({ user }: TextPrompt): {
  readonly earlier: string;
  readonly facts: string;
  readonly conversation: string;
  readonly budget: number;
} {
  const between = (tag: string) => new RegExp(`<${tag}>\\n([\\s\\S]*?)\\n?</${tag}>`).exec(user)?.[1] ?? '';
  return {
    earlier: between('earlier-summary'),
    facts: between('facts'),
    conversation: between('conversation'),
    budget: Number(/at most (\d+) tokens/.exec(user)?.[1]),
  };
}

/** A model that finds every `KEY-…` of the conversation and marks it as a fact, and copies its own old prose. */
export const ideal = (): ScriptedModel =>
  scripted((prompt) => {
    const { earlier, conversation, budget } = partsOf(prompt);
    const keys = [...new Set(conversation.match(/KEY-\w+/g) ?? [])];
    const prose = `${earlier} Then they went on.`.trim().slice(-budget * 2);
    return `=== SUMMARY ===\n${prose}\n=== NEW FACTS ===\n${keys.map((key) => `- fact: ${key}`).join('\n')}\n`;
  });

/** Every way in which a summariser fails. */
export const FAULTS: Readonly<Record<string, () => ScriptedModel>> = {
  'answers nothing': () => scripted(() => '  \n'),
  'refuses politely': () => scripted(() => "I'm sorry, but I can't help with that."),
  'refuses by its stop reason': () => scripted(() => ({ text: 'No.', stop_reason: 'refusal' })),
  'answers with an error in words': () => scripted(() => '{"error": {"message": "overloaded"}}'),
  'calls a tool instead': () => scripted(() => ({ text: '', stop_reason: 'tool_calls' })),
  'is cut off': () => scripted(() => ({ text: 'They talked about', stop_reason: 'length' })),
  'echoes everything': () => scripted(({ user }) => user),
  'writes far too much': () => scripted((prompt) => 'word '.repeat(partsOf(prompt).budget * 2)),
  'fails with an API error': () =>
    scripted(() => {
      throw new HiError('overload', 'The server is overloaded.', { retryable: true });
    }),
  'is told that the request is too long': () =>
    scripted(() => {
      throw new HiError('window', 'prompt is too long: 9000 tokens > 8000 maximum');
    }),
  'has a window that is too small': () => scripted(() => 'never asked', { context_window: 500 }),
  'fails on its second call and later': () =>
    scripted(
      (_, call) => {
        if (call > 1) throw new HiError('network', 'The connection was cut.');
        return 'The beginning.';
      },
      { context_window: 4000 },
    ),
};

/** A model that never answers and does not heed its signal. */
export const silent = (): ScriptedModel => scripted(() => new Promise<string>(() => undefined));
