/** Throws unless the summary of a plan counts so many environments as read: a run that left some out would be quick. */
export function checkPlanned(text, environments) {
  const counts = /^[\d,]+ environments: (.*)\.$/m.exec(text)?.[1] ?? 'no summary';
  const read = [...counts.matchAll(/([\d,]+) (?:in sync|differs?)\b/g)];
  const sum = read.reduce((all, [, count]) => all + Number(count.replaceAll(',', '')), 0);
  if (sum !== environments)
    throw new Error(`the plan of ${environments} environments ends with: ${counts}`);
}
