declare const __HI_VERSION__: string;

/** The version of the package this program was built from. */
export const VERSION = typeof __HI_VERSION__ === 'string' ? __HI_VERSION__ : '0.0.0';
