/** False for the models that refuse everything that has to do with reasoning: GPT-3 and 4, and the ChatGPT ones. */
export function canReason(model: string): boolean {
  return !/gpt-[34]|chatgpt|gpt-5[\d.]*-chat/.test(model);
}
