/** Somebody asked for something that would keep the process busy for too long. The message says what to ask for instead. */
export class TooMuchWork extends Error {}
