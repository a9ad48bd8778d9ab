-- What an embedding model marked says so: until now its confidence did.
SET LOCAL reverie.maintenance = 'on';
UPDATE facts SET model = 'multilingual-e5-small'
WHERE method = 'extractive' AND model IS NULL AND confidence BETWEEN 0.62 AND 0.72;
