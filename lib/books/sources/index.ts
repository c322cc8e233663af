import type { Source } from '../common/book-source.js';
import { chatgpt } from './chatgpt.js';
import { claudeCode } from './claude-code.js';

/** Every source, in the order in which they are asked whether a file is theirs. */
export const sources: readonly Source[] = [chatgpt, claudeCode];
