/** Throws unless the text of a plan names so many environments: a run that left some out would be quick. */
export function checkPlanned(text, environments) {
  const named = new Set(text.match(/\benv-\d{5}\b/g));
  if (named.size !== environments)
    throw new Error(`the plan names ${named.size} of ${environments} environments`);
}
