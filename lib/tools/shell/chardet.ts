// A chunk of the bundle holds the names of a CommonJS package only when they are imported by a static import.
export { detect } from 'chardet';
