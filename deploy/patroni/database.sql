-- Once, on the primary: psql -h PRIMARY -U postgres -f database.sql. `reverie doctor` says if something is missing.
CREATE ROLE reverie LOGIN PASSWORD 'PASSWORD';
CREATE DATABASE reverie OWNER reverie;
\connect reverie
CREATE EXTENSION vector;
CREATE ROLE reverie_app NOLOGIN NOBYPASSRLS;
GRANT reverie_app TO reverie;
