import { isSecretVariable } from '../desired/reference-place.ts';
import { isSensitiveName, looksLikeMask } from '../model/field.ts';
import { isSensitiveUrl } from '../model/identity.ts';

const NAME_ELSEWHERE = /auth|bearer|pwd|pass|dsn|private|signature/i;
const TOKEN =
  /^(?:sk|pk|rk|gh[pousr]|github_pat|glpat|xox[a-z]|hf|npm)[-_]|^(?:AKIA|ASIA|AIza|eyJ|ya29)|-----BEGIN /;
const CREDENTIALS = /\b(?:bearer|basic|token|apikey)\s+\S|:\/\/[^\s/?#]*@/i;

/** Whether a name says, to setpoint or to people, that what it holds is a secret. */
export function isSecretName(name: string): boolean {
  return isSecretVariable(name) || isSensitiveName(name) || NAME_ELSEWHERE.test(name);
}

/** Whether a text looks like a secret, whatever it is called: a token, credentials in a url or header, letters at random, a mask. */
export function isSecretText(text: string): boolean {
  return (
    looksLikeMask(text) ||
    TOKEN.test(text) ||
    CREDENTIALS.test(text) ||
    isSensitiveUrl(text) ||
    isRandom(text)
  );
}

/** Long, of letters and digits in one piece: what a machine made up. */
function isRandom(text: string): boolean {
  const words = /^[a-z]+([-/_][a-z\d]+)+$/.test(text);
  return !words && /^[\w+/=-]{24,}$/.test(text) && /\d/.test(text) && /[a-z]/i.test(text);
}
