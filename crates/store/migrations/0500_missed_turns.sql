-- Turns that were missed are few among millions that were kept, and are what people look for.
CREATE INDEX turns_missed ON turns (validator, block) WHERE outcome = 0;
