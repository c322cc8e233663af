/** Whether the model may search the web. `auto`: if its vendor has a search that costs nothing unless it is used. */
export const WEB_MODES = ['off', 'on', 'auto'] as const;

export type WebMode = (typeof WEB_MODES)[number];
