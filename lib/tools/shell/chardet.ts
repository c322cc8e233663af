// esbuild keeps the export names of a CommonJS package in a chunk only for static imports.
export { detect } from 'chardet';
