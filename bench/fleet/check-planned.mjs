/** Throws unless the text of a plan counts so many environments, one in a hundred of them as different: a run that left some out would be quick. */
export function checkPlanned(text, environments) {
  const counts = (number) => number.toLocaleString('en');
  const differ = Math.ceil(environments / 100);
  const summary = `\n${counts(environments)} environments: ${counts(environments - differ)} in sync, ${counts(differ)} differ.\n`;
  if (!text.includes(summary))
    throw new Error(`the plan does not say:${summary}${text.slice(-500)}`);
}
