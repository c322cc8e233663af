/**
 * The files that a typed line passes through on its way to the vendor, each of which calls into the next. What returns
 * a value to one of them is a visit.
 */
export const TYPED_LINE = [
  'lib/repl/prompt-line.ts',
  'lib/repl/terminal-repl.ts',
  'lib/cli/chat/submit.ts',
  'lib/session/session.ts',
  'lib/session/session-turns.ts',
  'lib/session/turn/turn.ts',
  'lib/session/turn/request-answer.ts',
  'lib/providers/openai/openai-adapter.ts',
];
