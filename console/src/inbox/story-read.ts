const storageKey = "qm-story-read"

/** Reports whether somebody has looked at a call's page in this browser. */
export const hasReadStory = () => localStorage.getItem(storageKey) !== null

export const markStoryRead = () => localStorage.setItem(storageKey, "yes")
