import { anthropic } from './anthropic.js';
import type { ProviderMember } from './common/provider.js';
import { gemini } from './gemini.js';
import { ollama } from './ollama.js';
import { openai } from './openai.js';

/** Every vendor there is. A new one is one file beside these and one line here. */
export const providers: readonly ProviderMember[] = [openai, anthropic, gemini, ollama];
