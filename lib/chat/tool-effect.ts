/** What a compaction records of a tool call: that it read or wrote the file named by one of its arguments, or that it ran a command. */
export type ToolEffect = { readonly kind: 'read' | 'write'; readonly argument: string } | { readonly kind: 'command' };

/** The effects of tools by name. Nothing is recorded of a tool that is not listed. */
export type ToolEffects = Readonly<Record<string, ToolEffect>>;
